package io.steelyard.models.safetensors;

import java.lang.foreign.MemorySegment;

/**
 * A tensor as a safetensors file holds it.
 *
 * @param name its name there
 * @param type element type
 * @param shape sizes as PyTorch orders them, the contiguous one last; none for a scalar
 * @param data exactly the elements, usually mapped
 */
record StoredTensor(String name, ElementType type, long[] shape, MemorySegment data) {

  /** Values in a row: the last size. */
  long columns() {
    return shape.length == 0 ? 1 : shape[shape.length - 1];
  }

  /** Product of all sizes but the last. */
  long rows() {
    long rows = 1;
    for (int d = 0; d < shape.length - 1; d++) {
      rows *= shape[d];
    }
    return rows;
  }
}
