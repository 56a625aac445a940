package io.steelyard.kernels.codec;

import static io.steelyard.kernels.codec.Stored.DOUBLE;
import static io.steelyard.kernels.codec.Stored.FLOAT;
import static io.steelyard.kernels.codec.Stored.INT;
import static io.steelyard.kernels.codec.Stored.LONG;
import static io.steelyard.kernels.codec.Stored.SHORT;

import io.steelyard.kernels.DataType;
import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Map;

/**
 * Decodes one stored type to float32, plainly: the definition that every faster decoder is tested
 * against.
 *
 * <p>What lies beside a tensor's blocks is left out, as if scales were 1: {@link TensorCodec}
 * decodes tensors.
 *
 * <p>The results of ggml's types are those of ggml's {@code to_float}, bit for bit: float32
 * arithmetic in the same order, without fused multiply-add. Whole numbers and float64 become the
 * nearest float32. Source of the layouts: {@code ggml-common.h} and {@code ggml-quants.c}.
 */
public final class Codec {
  /** Decodes the block at an offset into {@code to[at …]}. */
  @FunctionalInterface
  private interface Block {
    void decode(MemorySegment from, long offset, float[] to, int at);
  }

  private static final Map<DataType, Codec> ALL = new EnumMap<>(DataType.class);

  static {
    for (DataType type : DataType.values()) {
      ALL.put(type, new Codec(type, block(type)));
    }
  }

  private final DataType type;
  private final Block block;

  private Codec(DataType type, Block block) {
    this.type = type;
    this.block = block;
  }

  /** The codec of a type. */
  public static Codec of(DataType type) {
    return ALL.get(type);
  }

  private static Block block(DataType type) {
    return switch (type) {
      case F64 -> (from, offset, to, at) -> to[at] = (float) from.get(DOUBLE, offset);
      case F32 -> (from, offset, to, at) -> to[at] = from.get(FLOAT, offset);
      case F16 -> (from, offset, to, at) -> to[at] = Stored.half(from, offset);
      case BF16 -> (from, offset, to, at) -> to[at] = brainFloat(from, offset);
      case I8 -> (from, offset, to, at) -> to[at] = Stored.signed(from, offset);
      case I16 -> (from, offset, to, at) -> to[at] = from.get(SHORT, offset);
      case I32 -> (from, offset, to, at) -> to[at] = from.get(INT, offset);
      case I64 -> (from, offset, to, at) -> to[at] = from.get(LONG, offset);
      case Q4_0 -> SmallBlocks::q4Zero;
      case Q4_1 -> SmallBlocks::q4One;
      case Q5_0 -> SmallBlocks::q5Zero;
      case Q5_1 -> SmallBlocks::q5One;
      case Q8_0 -> SmallBlocks::q8Zero;
      case Q8_1 -> SmallBlocks::q8One;
      case Q2_K -> KBlocks::q2;
      case Q3_K -> KBlocks::q3;
      case Q4_K -> KBlocks::q4;
      case Q5_K -> KBlocks::q5;
      case Q6_K -> KBlocks::q6;
      case Q8_K -> KBlocks::q8;
      case IQ1_S -> LatticeBlocks::iq1Small;
      case IQ1_M -> LatticeBlocks::iq1Medium;
      case IQ2_XXS -> LatticeBlocks::iq2DoublyExtraSmall;
      case IQ2_XS -> LatticeBlocks::iq2ExtraSmall;
      case IQ2_S -> LatticeBlocks::iq2Small;
      case IQ3_XXS -> LatticeBlocks::iq3DoublyExtraSmall;
      case IQ3_S -> LatticeBlocks::iq3Small;
      case IQ4_NL -> FourBitLevels::iq4Nonlinear;
      case IQ4_XS -> FourBitLevels::iq4ExtraSmall;
      case MXFP4 -> FourBitLevels::mxfp4;
      case NVFP4 -> FourBitLevels::nvfp4;
      case Q1_0 -> FewBits::q1Zero;
      case Q2_0 -> FewBits::q2Zero;
      case TQ1_0 -> FewBits::tq1Zero;
      case TQ2_0 -> FewBits::tq2Zero;
      case INT8_TENSOR, INT8_ROW -> (from, offset, to, at) -> to[at] = Stored.signed(from, offset);
      case INT8_G32 -> (from, offset, to, at) -> ScaledBlocks.decodeBytes(32, from, offset, to, at);
      case INT8_G64 -> (from, offset, to, at) -> ScaledBlocks.decodeBytes(64, from, offset, to, at);
      case INT8_G128 ->
          (from, offset, to, at) -> ScaledBlocks.decodeBytes(128, from, offset, to, at);
      case NF4 -> NormalFloat::decode;
      case NF4_DQ -> NormalFloat::decodeNested;
      case FP8_E4M3 -> small(SmallFloat.E4M3);
      case FP8_E5M2 -> small(SmallFloat.E5M2);
      case FP4 -> ScaledBlocks::decodeFp4;
      case F16_2OF4 -> TwoOfFour::decode;
    };
  }

  private static Block small(SmallFloat kind) {
    return (from, offset, to, at) -> to[at] = kind.value(Stored.unsigned(from, offset));
  }

  private static float brainFloat(MemorySegment from, long offset) {
    return Float.intBitsToFloat(from.get(SHORT, offset) << Short.SIZE);
  }

  /**
   * Decodes a run of values.
   *
   * @param from holds the blocks
   * @param offset of the first block, in bytes
   * @param to receives {@code count} values from index {@code at} on
   * @param count values, a multiple of the type's block size
   */
  public void decode(MemorySegment from, long offset, float[] to, int at, int count) {
    if (count % type.blockSize() != 0) {
      throw new IllegalArgumentException(
          count + " values are no multiple of " + type + "'s block of " + type.blockSize());
    }
    long source = offset;
    for (int i = 0; i < count; i += type.blockSize()) {
      block.decode(from, source, to, at + i);
      source += type.blockBytes();
    }
  }
}
