package io.steelyard.kernels.attention;

import io.steelyard.kernels.StridedRows;
import java.util.List;

/**
 * One sequence of keys and the queries that attend to it.
 *
 * @param count of keys
 * @param parts queries, usually those of the heads that share the keys
 */
record Strip(StridedRows keys, StridedRows values, int count, List<Part> parts) {
  /**
   * Queries of one head.
   *
   * @param logSums address of a float32 for each query; 0 for none
   * @param stride bytes from one of them to the next
   */
  record Part(
      StridedRows queries, int rows, StridedRows out, long logSums, long stride, Sight sight) {}

  /** About how much work it is: an upper bound of its scores. */
  long cost() {
    return parts.stream().mapToLong(part -> (long) part.rows() * count).sum() + count;
  }
}
