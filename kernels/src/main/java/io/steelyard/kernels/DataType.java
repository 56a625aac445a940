package io.steelyard.kernels;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Types of tensor elements, as GGUF names them. A quantised type stores {@link #blockSize} values
 * in {@link #blockBytes} bytes. Those with numbers below 100 are all that ggml defines; numbers
 * that are missing belonged to types that it has given up. Those from 9001 on are Steelyard's own,
 * for schemes that ggml lacks. How each is decoded stands in {@link
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
  NVFP4(40, 64, 36, Scaling.MAY_HAVE_SCALES),
  Q1_0(41, 128, 18),
  Q2_0(42, 64, 18),
  /** Signed bytes from -127 to 127 with one scale a tensor. */
  INT8_TENSOR(9001, 1, 1, Scaling.SCALES),
  /** Signed bytes from -127 to 127 with one scale a row. */
  INT8_ROW(9002, 1, 1, Scaling.SCALES),
  /** A float32 scale and 32 signed bytes from -127 to 127. */
  INT8_G32(9003, 32, 36),
  /** A float32 scale and 64 signed bytes from -127 to 127. */
  INT8_G64(9004, 64, 68),
  /** A float32 scale and 128 signed bytes from -127 to 127. */
  INT8_G128(9005, 128, 132),
  /** The largest magnitude as float32, and 64 nibbles that name the levels of NF4. */
  NF4(9006, 64, 36),
  /** NF4 of which the largest magnitudes are quantised in their turn. */
  NF4_DQ(9007, 64, 33, Scaling.NESTED),
  /** Eight-bit floats with four bits of exponent and one scale a tensor. */
  FP8_E4M3(9008, 1, 1, Scaling.SCALES),
  /** Eight-bit floats with five bits of exponent and one scale a tensor. */
  FP8_E5M2(9009, 1, 1, Scaling.SCALES),
  /** A float32 scale and 64 four-bit floats (E2M1). */
  FP4(9010, 64, 36),
  /** Of each 4 values the 2 of largest magnitude: 16 float16 of 32 values, and their places. */
  F16_2OF4(9011, 32, 36);

  /** What lies beside a tensor's blocks, as float32. */
  public enum Scaling {
    /** Nothing: a block says all. */
    NONE,
    /** Scales that multiply rows: one for all, or one for each of equally many rows. */
    SCALES,
    /** As {@link #SCALES}, or nothing. */
    MAY_HAVE_SCALES,
    /** An offset, then a scale for each 256 blocks: they make the blocks' own scales. */
    NESTED
  }

  private static final int FIRST_OWN = 9001;

  private final int id;
  private final int blockSize;
  private final int blockBytes;
  private final Scaling scaling;

  DataType(int id, int blockSize, int blockBytes) {
    this(id, blockSize, blockBytes, Scaling.NONE);
  }

  DataType(int id, int blockSize, int blockBytes, Scaling scaling) {
    this.id = id;
    this.blockSize = blockSize;
    this.blockBytes = blockBytes;
    this.scaling = scaling;
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

  /** What lies beside a tensor's blocks. */
  public Scaling scaling() {
    return scaling;
  }

  /** Whether the type is one that ggml, and so llama.cpp, knows. */
  public boolean isGgml() {
    return id < FIRST_OWN;
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
