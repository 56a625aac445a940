package io.steelyard.kernels;

import java.util.List;

/** A matrix that is used as it lies in the file, or as it was repacked from there. */
record StackedMatrix(List<Tensor> parts, List<Tensor> held, int rows, int columns, long ownedBytes)
    implements Matrix {

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
    List<Tensor> copy = List.copyOf(parts);
    return new StackedMatrix(copy, copy, Math.toIntExact(rows), Math.toIntExact(columns), 0);
  }

  /**
   * The same matrix, multiplied as other tensors of the same shapes.
   *
   * @param ownedBytes of those that aren't parts
   */
  StackedMatrix heldAs(List<Tensor> held, long ownedBytes) {
    return new StackedMatrix(parts, List.copyOf(held), rows, columns, ownedBytes);
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
}
