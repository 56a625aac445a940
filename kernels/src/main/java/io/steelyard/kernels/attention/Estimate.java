package io.steelyard.kernels.attention;

import io.steelyard.kernels.DataType;

/**
 * What a forward pass will take, told before it is tried.
 *
 * @param scores about how many are computed
 * @param singly about how many Java goes through one by one to choose some of them, which takes
 *     longer than computing them
 * @param scratchBytes at most about so much memory beside inputs and results
 */
public record Estimate(double scores, double singly, long scratchBytes) {
  /** Where no scores are chosen. */
  Estimate(double scores, long scratchBytes) {
    this(scores, 0, scratchBytes);
  }

  /** Panels hold whole groups of so many keys and values. */
  static final int LANES = 32;

  /** Panels of so many keys and their values, of each thread. */
  static long panels(long keys, int dimension, int threads) {
    long padded = Math.ceilDiv(dimension, LANES) * (long) LANES;
    return 2 * (keys + LANES) * padded * Float.BYTES * threads;
  }

  /** Results of a head that are merged, and those of a step. */
  static long merges(long rows, int dimension) {
    return 2 * rows * (dimension + 1) * Float.BYTES;
  }

  /** Copies of rows. */
  static long copies(long rows, AttentionShape shape, DataType type) {
    return rows * type.bytes(shape.dimension());
  }

  /** A head's keys as {@link KeyColumns}, with {@link BlockBounds} and one more copy of theirs. */
  static long columns(long keys, long blocks, int dimension) {
    return (keys + 4 * blocks) * dimension * Float.BYTES;
  }

  /** The scores of one segment's positions among each other. */
  static double among(double positions, boolean causal) {
    return causal ? positions * (positions + 1) / 2 : positions * positions;
  }
}
