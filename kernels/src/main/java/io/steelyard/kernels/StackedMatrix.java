package io.steelyard.kernels;

import java.util.List;

/** A matrix that is used as it lies in the file. */
record StackedMatrix(List<Tensor> parts, int rows, int columns) implements Matrix {

  static StackedMatrix of(List<Tensor> parts) {
    if (parts.isEmpty()) {
      throw new IllegalArgumentException("a matrix needs at least one tensor");
    }
    long columns = parts.getFirst().columns();
    long rows = 0;
    for (Tensor part : parts) {
      if (part.columns() != columns) {
        throw new IllegalArgumentException(
            part.name() + " is " + part.columns() + " wide and can't be stacked on " + columns);
      }
      if (!part.data().isNative()) {
        throw new IllegalArgumentException(part.name() + " must lie off the heap");
      }
      rows += part.rows();
    }
    return new StackedMatrix(List.copyOf(parts), Math.toIntExact(rows), Math.toIntExact(columns));
  }

  /** The index of the part that holds a row. */
  int part(long row) {
    int part = 0;
    for (long left = row - parts.getFirst().rows(); left >= 0; left -= parts.get(part).rows()) {
      part++;
    }
    return part;
  }

  /** The first row of a part. */
  long firstRow(int part) {
    long first = 0;
    for (int i = 0; i < part; i++) {
      first += parts.get(i).rows();
    }
    return first;
  }

  @Override
  public long ownedBytes() {
    return 0;
  }
}
