package io.steelyard.kernels.attention;

import io.steelyard.kernels.StridedRows;
import java.util.ArrayList;
import java.util.List;

/** Results of the heads that share keys, as they are merged step by step. */
final class HeadMerges implements AutoCloseable {
  private final List<Merge> wholes = new ArrayList<>();
  private final List<Merge> parts = new ArrayList<>();
  private final int length;

  HeadMerges(AttentionShape shape, Workbench workbench) {
    length = shape.length();
    for (int i = 0; i < shape.group(); i++) {
      wholes.add(new Merge(shape.dimension(), length, workbench));
      parts.add(new Merge(shape.dimension(), length, workbench));
    }
  }

  /** Forgets the last step's results. */
  void forget() {
    parts.forEach(part -> part.forget(0, length));
  }

  /** Queries of one of the heads, whose results are this step's. */
  Strip.Part part(int head, StridedRows queries, int from, int rows, Sight sight) {
    return new Strip.Part(
        queries.from(from),
        rows,
        parts.get(head).rows().from(from),
        parts.get(head).sums() + (long) Float.BYTES * from,
        Float.BYTES,
        sight);
  }

  /** Adds this step's results. */
  void merge() {
    for (int i = 0; i < wholes.size(); i++) {
      wholes.get(i).add(parts.get(i));
    }
  }

  /** Writes all results. */
  void write(AttentionOutputs outputs, int batch, int firstHead) {
    for (int i = 0; i < wholes.size(); i++) {
      wholes.get(i).write(outputs, batch, firstHead + i);
    }
  }

  @Override
  public void close() {
    wholes.forEach(Merge::close);
    parts.forEach(Merge::close);
  }
}
