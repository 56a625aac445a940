package io.steelyard.kernels;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Types of tensor elements, as GGUF names them. A quantised type stores {@link #blockSize} values
 * in {@link #blockBytes} bytes.
 *
 * <p>Source: the ggml type table ({@code ggml.h}) and block layouts ({@code ggml-common.h}).
 */
public enum DataType {
  F32(0, 1, 4),
  F16(1, 1, 2),
  Q4_0(2, 32, 18),
  Q4_1(3, 32, 20),
  Q8_0(8, 32, 34),
  Q4_K(12, 256, 144),
  Q5_K(13, 256, 176),
  Q6_K(14, 256, 210),
  BF16(30, 1, 2);

  private final int id;
  private final int blockSize;
  private final int blockBytes;

  DataType(int id, int blockSize, int blockBytes) {
    this.id = id;
    this.blockSize = blockSize;
    this.blockBytes = blockBytes;
  }

  /** The type's number in a GGUF file. */
  public int id() {
    return id;
  }

  /** Values in one block; 1 for types that are not quantised. */
  public int blockSize() {
    return blockSize;
  }

  /** Bytes of one block. */
  public int blockBytes() {
    return blockBytes;
  }

  /**
   * Bytes of a run of values.
   *
   * @throws IllegalArgumentException if the count is no multiple of the block size
   * @throws ArithmeticException if the size exceeds 63 bits
   */
  public long bytes(long values) {
    if (values % blockSize != 0) {
      throw new IllegalArgumentException(
          values + " values are no multiple of " + this + "'s block of " + blockSize);
    }
    return Math.multiplyExact(values / blockSize, (long) blockBytes);
  }

  /** The type with this number in a GGUF file, if it is one that Steelyard reads. */
  public static Optional<DataType> ofId(int id) {
    return Arrays.stream(values()).filter(type -> type.id == id).findFirst();
  }

  /** All names, for messages. */
  public static String names() {
    return Arrays.stream(values()).map(Enum::name).collect(Collectors.joining(", "));
  }
}
