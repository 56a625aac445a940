package io.steelyard.kernels;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Types of tensor elements, as GGUF names them. A quantised type stores {@link #blockSize} values
 * in {@link #blockBytes} bytes. These are all that ggml defines; numbers that are missing belonged
 * to types that it has given up. How each is decoded stands in {@link
 * io.steelyard.kernels.codec.Codec}.
 *
 * <p>Source: the ggml type table ({@code ggml.h}) and block layouts ({@code ggml-common.h}).
 */
public enum DataType {
  F32(0, 1, 4),
  F16(1, 1, 2),
  Q4_0(2, 32, 18),
  Q4_1(3, 32, 20),
  Q5_0(6, 32, 22),
  Q5_1(7, 32, 24),
  Q8_0(8, 32, 34),
  Q8_1(9, 32, 36),
  Q2_K(10, 256, 84),
  Q3_K(11, 256, 110),
  Q4_K(12, 256, 144),
  Q5_K(13, 256, 176),
  Q6_K(14, 256, 210),
  Q8_K(15, 256, 292),
  IQ2_XXS(16, 256, 66),
  IQ2_XS(17, 256, 74),
  IQ3_XXS(18, 256, 98),
  IQ1_S(19, 256, 50),
  IQ4_NL(20, 32, 18),
  IQ3_S(21, 256, 110),
  IQ2_S(22, 256, 82),
  IQ4_XS(23, 256, 136),
  I8(24, 1, 1),
  I16(25, 1, 2),
  I32(26, 1, 4),
  I64(27, 1, 8),
  F64(28, 1, 8),
  IQ1_M(29, 256, 56),
  BF16(30, 1, 2),
  TQ1_0(34, 256, 54),
  TQ2_0(35, 256, 66),
  MXFP4(39, 32, 17),
  NVFP4(40, 64, 36),
  Q1_0(41, 128, 18),
  Q2_0(42, 64, 18);

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
