package io.steelyard.kernels.codec;

import static io.steelyard.kernels.codec.Stored.FLOAT;
import static io.steelyard.kernels.codec.Stored.SHORT;
import static io.steelyard.kernels.codec.Stored.half;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.DataType.Scaling;
import io.steelyard.kernels.Tensor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Writes weights anew in a type that has kernels everywhere, for tiers that have none for the type
 * in the file.
 *
 * <p>The values stay the same, but for the types of which {@link #rounds} says that 11 bits are
 * kept: of each scale (Q8_0) or each value (F16). For one thread.
 */
public final class Repacker {
  private static final int SMALL_BLOCK = 32;
  private static final float LARGEST_HALF = 65504;

  private final DataType type;
  private final DataType target;
  private float[] values = new float[0];
  private float largest;

  private Repacker(DataType type, DataType target) {
    this.type = type;
    this.target = target;
  }

  /** Repacks a type as its {@link #target}. */
  public static Repacker of(DataType type) {
    return new Repacker(type, target(type));
  }

  /** Repacks a type as float32, which can hold what its target can't. */
  public static Repacker toFloat32(DataType type) {
    return new Repacker(type, DataType.F32);
  }

  /** What a type is repacked as; the type itself where that isn't needed. */
  public static DataType target(DataType type) {
    return switch (type) {
      case F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K, Q6_K -> type;
      case IQ4_NL, IQ4_XS, MXFP4, NF4, FP4, FP8_E4M3, FP8_E5M2 -> type;
      case NF4_DQ -> DataType.NF4;
      // One scale for 32 values, times numbers of at most 8 bits.
      case Q8_1 -> DataType.Q8_0;
      case INT8_TENSOR, INT8_ROW, INT8_G32, INT8_G64, INT8_G128 -> DataType.Q8_0;
      case Q1_0, Q2_0, TQ1_0, TQ2_0, IQ1_S, IQ2_XXS, IQ3_XXS, IQ3_S -> DataType.Q8_0;
      // Scales of 6 bits for 16 values of 3 bits.
      case Q3_K -> DataType.Q6_K;
      // Of NVFP4, level and scale have 6 bits together, before a tensor's scale.
      case Q2_K, IQ1_M, IQ2_XS, IQ2_S, NVFP4 -> DataType.F16;
      case F16_2OF4 -> DataType.F16;
      case F64, I8, I16, I32, I64, Q8_K -> DataType.F32;
    };
  }

  /** Whether repacking rounds, each scale or value to 11 bits: by 1 part in 2048 at most. */
  public static boolean rounds(DataType type) {
    return switch (type) {
      case IQ1_S, IQ2_XXS, IQ3_XXS, IQ3_S -> true;
      case INT8_TENSOR, INT8_ROW, INT8_G32, INT8_G64, INT8_G128 -> true;
      case F16_2OF4 -> false;
      default -> target(type) == DataType.F16 && type != DataType.F16;
    };
  }

  /**
   * How large a tensor's largest value must at least be, unless all are zero. Of a smaller one the
   * steps of float16 near zero, 2^-24, could be seen: half of one, times a level of up to 127 where
   * it is a scale that is rounded, would be more than 1 part in 2048 of the largest value.
   */
  public static float leastLargest(DataType type) {
    if (!rounds(type)) {
      return 0;
    }
    return target(type) == DataType.F16 ? 0x1p-14f : 0x1p-7f;
  }

  /** The largest magnitude that was repacked so far. */
  public float largest() {
    return largest;
  }

  /** What this one writes. */
  public DataType target() {
    return target;
  }

  /**
   * Repacks a row.
   *
   * @param tensor of this one's type
   * @param to receives it from byte {@code at} on
   * @return false if the target can't hold some scale or value; what was written is worth nothing
   *     then
   */
  public boolean repack(Tensor tensor, long row, MemorySegment to, long at) {
    int count = (int) tensor.columns();
    if (values.length < count) {
      values = new float[count];
    }
    TensorCodec.decode(tensor, row, values);
    long offset = row * tensor.rowBytes();
    for (int i = 0; i < count; i++) {
      largest = Math.max(largest, Math.abs(values[i]));
    }
    return switch (target) {
      case Q8_0 -> bytes(tensor, row, to, at);
      case Q6_K -> sixBits(tensor.data(), offset, count, to, at);
      case NF4 -> normalFloats(tensor, row, to, at);
      default -> {
        Encoder.encode(target, values, 0, count, to, at);
        yield target != DataType.F16 || largest <= LARGEST_HALF;
      }
    };
  }

  private boolean bytes(Tensor tensor, long row, MemorySegment to, long at) {
    for (int i = 0; i < tensor.columns(); i += SMALL_BLOCK) {
      int inBlock = i % type.blockSize();
      long block = row * tensor.rowBytes() + type.bytes(i - inBlock);
      float scale =
          type.scaling() == Scaling.SCALES
              ? tensor.scale(row)
              : scale(tensor.data(), block, inBlock / SMALL_BLOCK);
      if (!bytes(i, scale, to, at + DataType.Q8_0.bytes(i))) {
        return false;
      }
    }
    return true;
  }

  /** Writes 32 values as multiples of their scale, which they are exactly. */
  private boolean bytes(int first, float scale, MemorySegment to, long block) {
    boolean zero = true;
    for (int i = 0; i < SMALL_BLOCK; i++) {
      float value = values[first + i];
      zero &= value == 0;
      to.set(ValueLayout.JAVA_BYTE, block + 2 + i, (byte) Math.round(value / scale));
    }
    short bits = Float.floatToFloat16(zero ? 0 : scale);
    to.set(SHORT, block, bits);
    float stored = Float.float16ToFloat(bits);
    return zero || (Math.abs(stored) <= LARGEST_HALF && (stored == scale || rounds(type)));
  }

  /** What the values of 32 are whole multiples of. */
  private float scale(MemorySegment from, long block, int sub) {
    return switch (type) {
      case TQ1_0 -> half(from, block + 52);
      case TQ2_0 -> half(from, block + 64);
      case INT8_G32, INT8_G64, INT8_G128 -> from.get(FLOAT, block);
      case IQ1_S -> LatticeBlocks.iq1SmallScale(from, block, sub) * LatticeBlocks.SHIFT;
      case IQ2_XXS -> LatticeBlocks.iq2DoublyExtraSmallScale(from, block, sub);
      case IQ3_XXS -> LatticeBlocks.iq3DoublyExtraSmallScale(from, block, sub);
      case IQ3_S -> LatticeBlocks.iq3SmallScale(from, block, sub);
      default -> half(from, block);
    };
  }

  /** The same nibbles, each block's largest magnitude computed once for all. */
  private static boolean normalFloats(Tensor tensor, long row, MemorySegment to, long at) {
    long blocks = tensor.columns() / DataType.NF4.blockSize();
    int nibbles = DataType.NF4.blockSize() / 2;
    for (int i = 0; i < blocks; i++) {
      long block = row * blocks + i;
      long target = at + (long) DataType.NF4.blockBytes() * i;
      to.set(FLOAT, target, NormalFloat.largest(tensor, block));
      long from = block * tensor.type().blockBytes() + 1;
      MemorySegment.copy(tensor.data(), from, to, target + Float.BYTES, nibbles);
    }
    return true;
  }

  private boolean sixBits(MemorySegment from, long offset, int count, MemorySegment to, long at) {
    for (int i = 0; i < count; i += 256) {
      KBlocks.q3AsQ6(from, offset + type.bytes(i), to, at + target.bytes(i));
    }
    return true;
  }
}
