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

  @Override
  public long ownedBytes() {
    return 0;
  }
}
