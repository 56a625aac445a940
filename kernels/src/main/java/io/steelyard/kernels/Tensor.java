package io.steelyard.kernels;

import java.lang.foreign.MemorySegment;

/**
 * A matrix or vector of weights as it lies in a file.
 *
 * @param name the tensor's name in the file
 * @param type element type
 * @param columns values in a row, the contiguous dimension
 * @param rows number of rows; 1 for a vector
 * @param data exactly {@code rows} rows of {@code type.bytes(columns)} bytes, usually mapped
 */
public record Tensor(String name, DataType type, long columns, long rows, MemorySegment data) {
  public Tensor {
    if (columns < 1 || rows < 1) {
      throw new IllegalArgumentException("tensor " + name + " is empty");
    }
    long bytes = Math.multiplyExact(rows, type.bytes(columns));
    if (data.byteSize() != bytes) {
      throw new IllegalArgumentException(
          "tensor " + name + " has " + data.byteSize() + " bytes where its shape needs " + bytes);
    }
  }

  /** Bytes of one row. */
  public long rowBytes() {
    return type.bytes(columns);
  }
}
