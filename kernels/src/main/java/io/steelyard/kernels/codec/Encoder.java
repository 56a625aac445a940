package io.steelyard.kernels.codec;

import static io.steelyard.kernels.codec.Stored.DOUBLE;
import static io.steelyard.kernels.codec.Stored.FLOAT;
import static io.steelyard.kernels.codec.Stored.SHORT;

import io.steelyard.kernels.DataType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;

/**
 * Turns floats into the bytes of a {@link DataType}. F64 to Q8_0 and MXFP4 are rounded as ggml's
 * reference quantisers do it, so that a file written here equals one that llama.cpp would write;
 * the K types, IQ4_NL and IQ4_XS get the scales of least squared error that are found.
 *
 * <p>Of types that have scales beside their blocks, this writes blocks as they are with a scale of
 * 1 (and an offset of 0); {@link TensorEncoder} writes tensors.
 *
 * <p>Values must be finite for the block types. Source: {@code ggml-quants.c}, {@code
 * quantize_row_*_ref}.
 */
public final class Encoder {
  /** Encodes the block that begins at {@code values[from]}. */
  @FunctionalInterface
  private interface Block {
    void encode(float[] values, int from, MemorySegment to, long offset);
  }

  /** The same where errors of some values matter more than those of others. */
  @FunctionalInterface
  private interface WeightedBlock {
    void encode(float[] values, int from, Fit.Weights weights, MemorySegment to, long offset);
  }

  private static final Map<DataType, Block> BLOCKS = new EnumMap<>(DataType.class);
  private static final Map<DataType, WeightedBlock> WEIGHTED = new EnumMap<>(DataType.class);

  static {
    BLOCKS.put(DataType.F64, (v, from, to, at) -> to.set(DOUBLE, at, v[from]));
    BLOCKS.put(DataType.F32, (v, from, to, at) -> to.set(FLOAT, at, v[from]));
    BLOCKS.put(DataType.F16, (v, from, to, at) -> to.set(SHORT, at, Float.floatToFloat16(v[from])));
    BLOCKS.put(DataType.BF16, (v, from, to, at) -> to.set(SHORT, at, bfloat16(v[from])));
    BLOCKS.put(DataType.Q4_0, SmallBlockEncoder::q4Zero);
    BLOCKS.put(DataType.Q4_1, SmallBlockEncoder::q4One);
    BLOCKS.put(DataType.Q5_0, SmallBlockEncoder::q5Zero);
    BLOCKS.put(DataType.Q5_1, SmallBlockEncoder::q5One);
    BLOCKS.put(DataType.Q8_0, SmallBlockEncoder::q8Zero);
    weighted(DataType.Q2_K, KBlockEncoder::q2);
    weighted(DataType.Q3_K, KBlockEncoder::q3);
    weighted(DataType.Q4_K, KBlockEncoder::q4);
    weighted(DataType.Q5_K, KBlockEncoder::q5);
    weighted(DataType.Q6_K, KBlockEncoder::q6);
    weighted(DataType.IQ4_NL, LevelEncoder::iq4Nonlinear);
    weighted(DataType.IQ4_XS, LevelEncoder::iq4ExtraSmall);
    BLOCKS.put(DataType.MXFP4, LevelEncoder::mxfp4);
    BLOCKS.put(DataType.NVFP4, LevelEncoder::nvfp4);
    BLOCKS.put(DataType.INT8_TENSOR, Encoder::wholeByte);
    BLOCKS.put(DataType.INT8_ROW, Encoder::wholeByte);
    BLOCKS.put(DataType.INT8_G32, (v, i, to, at) -> ScaledBlocks.encodeBytes(32, v, i, to, at));
    BLOCKS.put(DataType.INT8_G64, (v, i, to, at) -> ScaledBlocks.encodeBytes(64, v, i, to, at));
    BLOCKS.put(DataType.INT8_G128, (v, i, to, at) -> ScaledBlocks.encodeBytes(128, v, i, to, at));
    BLOCKS.put(DataType.NF4, NormalFloat::encode);
    BLOCKS.put(DataType.NF4_DQ, (v, i, to, at) -> NormalFloat.encodeNested(v, i, 0, 1, to, at));
    BLOCKS.put(DataType.FP8_E4M3, (v, i, to, at) -> small(SmallFloat.E4M3, v[i], to, at));
    BLOCKS.put(DataType.FP8_E5M2, (v, i, to, at) -> small(SmallFloat.E5M2, v[i], to, at));
    BLOCKS.put(DataType.FP4, ScaledBlocks::encodeFp4);
    BLOCKS.put(DataType.F16_2OF4, TwoOfFour::encode);
  }

  private Encoder() {}

  private static void weighted(DataType type, WeightedBlock block) {
    WEIGHTED.put(type, block);
    BLOCKS.put(type, (v, from, to, at) -> block.encode(v, from, Fit.Weights.EQUAL, to, at));
  }

  private static void wholeByte(float[] values, int from, MemorySegment to, long at) {
    to.set(ValueLayout.JAVA_BYTE, at, ScaledBlocks.nearestByte(values[from]));
  }

  private static void small(SmallFloat kind, float value, MemorySegment to, long at) {
    to.set(ValueLayout.JAVA_BYTE, at, (byte) kind.bits(value));
  }

  /** The types that can be written. */
  public static Set<DataType> types() {
    return Collections.unmodifiableSet(BLOCKS.keySet());
  }

  /**
   * Encodes a run of values.
   *
   * @param type one of {@link #types}
   * @param values source
   * @param from first value
   * @param count number of values, a multiple of the type's block size
   * @param target where the {@code type.bytes(count)} bytes go
   * @param offset first byte in the target
   * @throws IllegalArgumentException for another type or a count that is no multiple
   * @throws IndexOutOfBoundsException if source or target are too short
   */
  public static void encode(
      DataType type, float[] values, int from, int count, MemorySegment target, long offset) {
    Block block = BLOCKS.get(type);
    if (block == null) {
      throw new IllegalArgumentException(type + " can't be written; types that can: " + types());
    }
    MemorySegment out = target.asSlice(offset, type.bytes(count));
    if (type == DataType.F32) {
      MemorySegment.copy(values, from, out, FLOAT, 0, count);
      return;
    }
    for (int i = 0; i < count; i += type.blockSize()) {
      block.encode(values, from + i, out, type.bytes(i));
    }
  }

  /** Whether a type's scales are searched for, so that values can matter differently. */
  public static boolean searches(DataType type) {
    return WEIGHTED.containsKey(type);
  }

  /**
   * Encodes a run of values of which some matter more: of types that {@link #searches} the scales
   * with the least weighted squared error are taken, others are written as ever.
   *
   * @param importance weights of the squared errors, positive; of the first value at index {@code
   *     at}
   */
  public static void encode(
      DataType type,
      float[] values,
      int from,
      int count,
      float[] importance,
      int at,
      MemorySegment target,
      long offset) {
    WeightedBlock block = WEIGHTED.get(type);
    if (block == null) {
      encode(type, values, from, count, target, offset);
      return;
    }
    MemorySegment out = target.asSlice(offset, type.bytes(count));
    for (int i = 0; i < count; i += type.blockSize()) {
      block.encode(values, from + i, new Fit.Weights(importance, at + i), out, type.bytes(i));
    }
  }

  /** The nearest bfloat16, ties to even; a NaN becomes a quiet one. */
  public static short bfloat16(float value) {
    int bits = Float.floatToRawIntBits(value);
    if (Float.isNaN(value)) {
      return (short) ((bits >>> 16) | 0x40);
    }
    return (short) ((bits + 0x7FFF + ((bits >>> 16) & 1)) >>> 16);
  }
}
