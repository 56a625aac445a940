package io.steelyard.kernels;

import java.util.List;

/**
 * A weight matrix as one tier wants it, made by {@link Kernels#prepare}. It may be stacked of
 * several tensors of equal width, so that one multiplication computes, say, queries, keys and
 * values at once.
 */
public interface Matrix {
  /** The tensors it was made of, from the top row down. */
  List<Tensor> parts();

  /**
   * The parts as they are multiplied: the same tensors, unless the tier has no kernel for a type
   * and holds it as another.
   */
  default List<Tensor> held() {
    return parts();
  }

  /** Rows of all parts: the width of a product. */
  int rows();

  /** Width of a row: the width of what it is multiplied with. */
  int columns();

  /** Bytes that the tier allocated for it beyond the tensors' own memory. */
  long ownedBytes();
}
