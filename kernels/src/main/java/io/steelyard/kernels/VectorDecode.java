package io.steelyard.kernels;

import static io.steelyard.kernels.Lanes.COUNT;

import io.steelyard.kernels.codec.Codec;
import io.steelyard.kernels.codec.FourBitLevels;
import io.steelyard.kernels.codec.TensorCodec;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;

/**
 * Decodes runs of a row's values to float32, several at a time: bit for bit what {@link
 * io.steelyard.kernels.codec.Codec} gives.
 */
final class VectorDecode {
  /** A multiple of every block size. */
  private static final int PLAIN_RUN = 1024;

  private static final IntVector PLACES = IntVector.zero(Lanes.INTS).addIndex(1);
  static final ByteVector NONLINEAR = Lanes.levels(FourBitLevels.nonlinear());
  static final ByteVector DOUBLED_FLOATS = Lanes.levels(FourBitLevels.doubledFloats());

  private VectorDecode() {}

  /**
   * Decodes a part of a tensor's row.
   *
   * @param column of the first value, at the start of a block
   * @param count values, a multiple of the block size
   * @param to address that receives them
   */
  static void run(Tensor tensor, long row, int column, int count, long to) {
    DataType type = tensor.type();
    if (tensor.scales().byteSize() == 0) {
      long from = tensor.data().address() + row * tensor.rowBytes() + type.bytes(column);
      run(type, from, count, to);
      return;
    }
    float[] values = new float[Math.min(count, PLAIN_RUN)];
    for (int i = 0; i < count; i += PLAIN_RUN) {
      int some = Math.min(PLAIN_RUN, count - i);
      TensorCodec.decode(tensor, row, column + i, some, values);
      RawMemory.putFloats(to + 4L * i, values, some);
    }
  }

  /**
   * Decodes values from the start of a block on.
   *
   * @param from address of the first block
   * @param count values, a multiple of the block size
   * @param to address that receives them
   */
  static void run(DataType type, long from, int count, long to) {
    switch (type) {
      case F32 -> Lanes.ALL.asSlice(to, 4L * count).copyFrom(Lanes.ALL.asSlice(from, 4L * count));
      case F16 -> halves(from, count, to);
      case BF16 -> brainFloats(from, count, to);
      case Q8_0 -> q8Zero(from, count, to);
      case Q5_0 -> q5Zero(from, count, to);
      case IQ4_NL -> iq4Nonlinear(from, count, to);
      case MXFP4 -> mxfp4(from, count, to);
      case Q4_0 -> q4Zero(from, count, to);
      case Q4_1 -> q4One(from, count, to);
      case Q4_K -> q4K(from, count, to);
      case Q5_K -> q5K(from, count, to);
      case Q6_K -> q6K(from, count, to);
      default -> plainly(type, from, count, to);
    }
  }

  /** Types of which there is no decoder here: a value at a time, a few blocks at a time. */
  private static void plainly(DataType type, long from, int count, long to) {
    Codec codec = Codec.of(type);
    float[] values = new float[Math.min(count, PLAIN_RUN)];
    for (int i = 0; i < count; i += PLAIN_RUN) {
      int some = Math.min(PLAIN_RUN, count - i);
      codec.decode(Lanes.ALL, from + type.bytes(i), values, 0, some);
      RawMemory.putFloats(to + 4L * i, values, some);
    }
  }

  private static void halves(long from, int count, long to) {
    int whole = count - count % COUNT;
    for (int i = 0; i < whole; i += COUNT) {
      Lanes.store(to + 4L * i, Lanes.halves(from + 2L * i));
    }
    for (int i = whole; i < count; i++) {
      Lanes.put(to + 4L * i, Lanes.half(from + 2L * i));
    }
  }

  private static void brainFloats(long from, int count, long to) {
    int whole = count - count % COUNT;
    for (int i = 0; i < whole; i += COUNT) {
      Lanes.store(to + 4L * i, Lanes.brainFloats(from + 2L * i));
    }
    for (int i = whole; i < count; i++) {
      Lanes.put(to + 4L * i, Float.intBitsToFloat(Lanes.bits16(from + 2L * i) << 16));
    }
  }

  private static void q8Zero(long from, int count, long to) {
    long block = from;
    for (int i = 0; i < count; i += 32, block += 34) {
      float scale = Lanes.half(block);
      for (int j = 0; j < 32; j += COUNT) {
        FloatVector q = Lanes.toFloat(Lanes.signedBytes(block + 2 + j));
        Lanes.store(to + 4L * (i + j), q.mul(scale));
      }
    }
  }

  private static void q4Zero(long from, int count, long to) {
    long block = from;
    for (int i = 0; i < count; i += 32, block += 18) {
      float scale = Lanes.half(block);
      for (int j = 0; j < 16; j += COUNT) {
        IntVector pairs = Lanes.unsignedBytes(block + 2 + j);
        long at = to + 4L * (i + j);
        Lanes.store(at, Lanes.toFloat(pairs.and(0xF).sub(8)).mul(scale));
        Lanes.store(
            at + 64, Lanes.toFloat(pairs.lanewise(VectorOperators.LSHR, 4).sub(8)).mul(scale));
      }
    }
  }

  private static void q4One(long from, int count, long to) {
    long block = from;
    for (int i = 0; i < count; i += 32, block += 20) {
      float scale = Lanes.half(block);
      float minimum = Lanes.half(block + 2);
      for (int j = 0; j < 16; j += COUNT) {
        IntVector pairs = Lanes.unsignedBytes(block + 4 + j);
        long at = to + 4L * (i + j);
        Lanes.store(at, Lanes.toFloat(pairs.and(0xF)).mul(scale).add(minimum));
        FloatVector high = Lanes.toFloat(pairs.lanewise(VectorOperators.LSHR, 4));
        Lanes.store(at + 64, high.mul(scale).add(minimum));
      }
    }
  }

  private static void q5Zero(long from, int count, long to) {
    long block = from;
    for (int i = 0; i < count; i += 32, block += 22) {
      float scale = Lanes.half(block);
      for (int j = 0; j < 16; j += COUNT) {
        long at = to + 4L * (i + j);
        Lanes.store(at, Lanes.toFloat(q5Zero(block, 0, j)).mul(scale));
        Lanes.store(at + 64, Lanes.toFloat(q5Zero(block, 1, j)).mul(scale));
      }
    }
  }

  /** Values j… of the first or second half of a block of Q5_0, from -16 to 15. */
  static IntVector q5Zero(long block, int half, int j) {
    IntVector low =
        Lanes.unsignedBytes(block + 6 + j).lanewise(VectorOperators.LSHR, 4 * half).and(0xF);
    IntVector fifth =
        IntVector.broadcast(Lanes.INTS, Lanes.bits32(block + 2) >>> (16 * half + j))
            .lanewise(VectorOperators.LSHR, PLACES)
            .and(1);
    return low.or(fifth.lanewise(VectorOperators.LSHL, 4)).sub(16);
  }

  private static void iq4Nonlinear(long from, int count, long to) {
    long block = from;
    for (int i = 0; i < count; i += 32, block += 18) {
      levels(NONLINEAR, block + 2, Lanes.half(block), to + 4L * i);
    }
  }

  private static void mxfp4(long from, int count, long to) {
    long block = from;
    for (int i = 0; i < count; i += 32, block += 17) {
      float scale = FourBitLevels.halfOfE8M0(Lanes.unsignedByte(block));
      levels(DOUBLED_FLOATS, block + 1, scale, to + 4L * i);
    }
  }

  private static void levels(ByteVector levels, long pairs, float scale, long to) {
    for (int half = 0; half < 2; half++) {
      long at = to + 64L * half;
      // As bytes first, where the last of these values will be.
      long bytes = at + 48;
      Lanes.putLevels(levels, pairs, 4 * half, bytes);
      for (int j = 0; j < 16; j += COUNT) {
        Lanes.store(at + 4L * j, Lanes.toFloat(Lanes.signedBytes(bytes + j)).mul(scale));
      }
    }
  }

  private static void q4K(long from, int count, long to) {
    long block = from;
    for (int i = 0; i < count; i += 256, block += 144) {
      float scale = Lanes.half(block);
      float minimum = Lanes.half(block + 2);
      for (int sub = 0; sub < 8; sub++) {
        float d = scale * KScales.scale(block + 4, sub);
        float m = minimum * KScales.minimum(block + 4, sub);
        long nibbles = block + 16 + 32L * (sub >> 1);
        int shift = 4 * (sub & 1);
        for (int j = 0; j < 32; j += COUNT) {
          IntVector q =
              Lanes.unsignedBytes(nibbles + j).lanewise(VectorOperators.LSHR, shift).and(0xF);
          Lanes.store(to + 4L * (i + 32 * sub + j), Lanes.toFloat(q).mul(d).sub(m));
        }
      }
    }
  }

  private static void q5K(long from, int count, long to) {
    long block = from;
    for (int i = 0; i < count; i += 256, block += 176) {
      float scale = Lanes.half(block);
      float minimum = Lanes.half(block + 2);
      for (int sub = 0; sub < 8; sub++) {
        float d = scale * KScales.scale(block + 4, sub);
        float m = minimum * KScales.minimum(block + 4, sub);
        for (int j = 0; j < 32; j += COUNT) {
          IntVector q = q5(block, sub, j);
          Lanes.store(to + 4L * (i + 32 * sub + j), Lanes.toFloat(q).mul(d).sub(m));
        }
      }
    }
  }

  /** Values j… of a sub-block of Q5_K. */
  static IntVector q5(long block, int sub, int j) {
    IntVector low =
        Lanes.unsignedBytes(block + 48 + 32L * (sub >> 1) + j)
            .lanewise(VectorOperators.LSHR, 4 * (sub & 1))
            .and(0xF);
    IntVector fifth =
        Lanes.unsignedBytes(block + 16 + j).lanewise(VectorOperators.LSHR, sub).and(1);
    return low.or(fifth.lanewise(VectorOperators.LSHL, 4));
  }

  private static void q6K(long from, int count, long to) {
    long block = from;
    for (int i = 0; i < count; i += 256, block += 210) {
      float scale = Lanes.half(block + 208);
      for (int run = 0; run < 8; run++) {
        for (int j = 0; j < 32; j += COUNT) {
          float d = scale * Lanes.signedByte(block + 192 + 2L * run + (j >> 4));
          FloatVector q = Lanes.toFloat(q6(block, run, j));
          Lanes.store(to + 4L * (i + 32 * run + j), q.mul(d));
        }
      }
    }
  }

  /** Values j… of a run of 32 of Q6_K, from -32 to 31. */
  static IntVector q6(long block, int run, int j) {
    int inHalf = run & 3;
    IntVector low =
        Lanes.unsignedBytes(block + 64L * (run >> 2) + 32L * (inHalf & 1) + j)
            .lanewise(VectorOperators.LSHR, 4 * (inHalf >> 1))
            .and(0xF);
    IntVector high =
        Lanes.unsignedBytes(block + 128 + 32L * (run >> 2) + j)
            .lanewise(VectorOperators.LSHR, 2 * inHalf)
            .and(3);
    return low.or(high.lanewise(VectorOperators.LSHL, 4)).sub(32);
  }
}
