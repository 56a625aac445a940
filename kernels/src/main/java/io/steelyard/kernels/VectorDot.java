package io.steelyard.kernels;

import static io.steelyard.kernels.Lanes.COUNT;

import io.steelyard.kernels.codec.FourBitLevels;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;

/**
 * Products of weight rows with one activation row: the decoding path. Weights are decoded in
 * registers; a block's scale multiplies the block's vector of partial sums, so lanes are summed
 * once a row. A block's minimum meets the sum of the block's activations, computed once a product.
 */
final class VectorDot {
  /** Activations a partial sum covers. */
  static final int SUM_BLOCK = 32;

  /** Where the places of 2:4 values stand in their bits. */
  private static final IntVector PLACE_SHIFTS = IntVector.zero(Lanes.INTS).addIndex(2);

  /** The first of the four activations that a 2:4 value may belong to. */
  private static final IntVector FOURS =
      IntVector.zero(Lanes.INTS)
          .addIndex(1)
          .lanewise(VectorOperators.LSHR, 1)
          .lanewise(VectorOperators.LSHL, 2);

  private VectorDot() {}

  /** Whether a type is multiplied as it is stored. */
  static boolean takes(DataType type) {
    return switch (type) {
      case F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q4_K, Q5_K, Q6_K, Q5_0, IQ4_NL, MXFP4 -> true;
      case F16_2OF4 -> true;
      default -> false;
    };
  }

  /**
   * Computes {@code y[r] = w[r] · x} for consecutive rows.
   *
   * @param w address of the first row
   * @param columns a multiple of the type's block size
   * @param x address of the activations
   * @param sums address of the sums of each 32 activations, as of {@link #sums}
   * @param y address of the first result
   * @param lanes address of scratch memory for one vector
   */
  static void rows(
      DataType type, long w, int rows, int columns, long x, long sums, long y, long lanes) {
    long rowBytes = type.bytes(columns);
    switch (type) {
      case F32 -> {
        for (int r = 0; r < rows; r++) {
          Lanes.put(y + 4L * r, f32(w + r * rowBytes, columns, x, lanes));
        }
      }
      case F16 -> {
        for (int r = 0; r < rows; r++) {
          Lanes.put(y + 4L * r, f16(w + r * rowBytes, columns, x, lanes));
        }
      }
      case BF16 -> {
        for (int r = 0; r < rows; r++) {
          Lanes.put(y + 4L * r, bf16(w + r * rowBytes, columns, x, lanes));
        }
      }
      case Q8_0 -> {
        for (int r = 0; r < rows; r++) {
          Lanes.put(y + 4L * r, q8Zero(w + r * rowBytes, columns, x, lanes));
        }
      }
      case Q4_0 -> {
        for (int r = 0; r < rows; r++) {
          Lanes.put(y + 4L * r, q4Zero(w + r * rowBytes, columns, x, sums, lanes));
        }
      }
      case Q5_0 -> {
        for (int r = 0; r < rows; r++) {
          Lanes.put(y + 4L * r, q5Zero(w + r * rowBytes, columns, x, lanes));
        }
      }
      case IQ4_NL -> {
        for (int r = 0; r < rows; r++) {
          Lanes.put(y + 4L * r, iq4Nonlinear(w + r * rowBytes, columns, x, lanes));
        }
      }
      case MXFP4 -> {
        for (int r = 0; r < rows; r++) {
          Lanes.put(y + 4L * r, mxfp4(w + r * rowBytes, columns, x, lanes));
        }
      }
      case F16_2OF4 -> {
        for (int r = 0; r < rows; r++) {
          Lanes.put(y + 4L * r, twoOfFour(w + r * rowBytes, columns, x, lanes));
        }
      }
      case Q4_1 -> {
        for (int r = 0; r < rows; r++) {
          Lanes.put(y + 4L * r, q4One(w + r * rowBytes, columns, x, sums, lanes));
        }
      }
      case Q4_K -> {
        for (int r = 0; r < rows; r++) {
          Lanes.put(y + 4L * r, q4K(w + r * rowBytes, columns, x, sums, lanes));
        }
      }
      case Q5_K -> {
        for (int r = 0; r < rows; r++) {
          Lanes.put(y + 4L * r, q5K(w + r * rowBytes, columns, x, sums, lanes));
        }
      }
      case Q6_K -> {
        for (int r = 0; r < rows; r++) {
          Lanes.put(y + 4L * r, q6K(w + r * rowBytes, columns, x, lanes));
        }
      }
      default -> throw new IllegalArgumentException(type + " is decoded before it is multiplied");
    }
  }

  /**
   * Sums each 32 activations; a rest under 32 is left out, since no blocked type has one.
   *
   * @param lanes address of scratch memory for one vector
   */
  static void sums(long x, int columns, long sums, long lanes) {
    for (int i = 0; i + SUM_BLOCK <= columns; i += SUM_BLOCK) {
      FloatVector sum = Lanes.load(x + 4L * i);
      for (int j = COUNT; j < SUM_BLOCK; j += COUNT) {
        sum = sum.add(Lanes.load(x + 4L * (i + j)));
      }
      Lanes.put(sums + 4L * (i / SUM_BLOCK), Lanes.sum(sum, lanes));
    }
  }

  private static float f32(long w, int columns, long x, long lanes) {
    FloatVector even = Lanes.broadcastOf(0);
    FloatVector odd = Lanes.broadcastOf(0);
    int i = 0;
    for (; i + 2 * COUNT <= columns; i += 2 * COUNT) {
      even = Lanes.load(w + 4L * i).fma(Lanes.load(x + 4L * i), even);
      odd = Lanes.load(w + 4L * (i + COUNT)).fma(Lanes.load(x + 4L * (i + COUNT)), odd);
    }
    float sum = Lanes.sum(even.add(odd), lanes);
    for (; i < columns; i++) {
      sum += Lanes.scalar(w + 4L * i) * Lanes.scalar(x + 4L * i);
    }
    return sum;
  }

  private static float f16(long w, int columns, long x, long lanes) {
    FloatVector even = Lanes.broadcastOf(0);
    FloatVector odd = Lanes.broadcastOf(0);
    int i = 0;
    for (; i + 2 * COUNT <= columns; i += 2 * COUNT) {
      even = Lanes.halves(w + 2L * i).fma(Lanes.load(x + 4L * i), even);
      odd = Lanes.halves(w + 2L * (i + COUNT)).fma(Lanes.load(x + 4L * (i + COUNT)), odd);
    }
    float sum = Lanes.sum(even.add(odd), lanes);
    for (; i < columns; i++) {
      sum += Lanes.half(w + 2L * i) * Lanes.scalar(x + 4L * i);
    }
    return sum;
  }

  private static float bf16(long w, int columns, long x, long lanes) {
    FloatVector even = Lanes.broadcastOf(0);
    FloatVector odd = Lanes.broadcastOf(0);
    int i = 0;
    for (; i + 2 * COUNT <= columns; i += 2 * COUNT) {
      even = Lanes.brainFloats(w + 2L * i).fma(Lanes.load(x + 4L * i), even);
      odd = Lanes.brainFloats(w + 2L * (i + COUNT)).fma(Lanes.load(x + 4L * (i + COUNT)), odd);
    }
    float sum = Lanes.sum(even.add(odd), lanes);
    for (; i < columns; i++) {
      sum += Float.intBitsToFloat(Lanes.bits16(w + 2L * i) << 16) * Lanes.scalar(x + 4L * i);
    }
    return sum;
  }

  private static float q8Zero(long w, int columns, long x, long lanes) {
    FloatVector sum = Lanes.broadcastOf(0);
    for (int i = 0; i < columns; i += 32) {
      FloatVector block = Lanes.broadcastOf(0);
      for (int j = 0; j < 32; j += COUNT) {
        block = Lanes.toFloat(Lanes.signedBytes(w + 2 + j)).fma(Lanes.load(x + 4L * j), block);
      }
      sum = block.fma(Lanes.broadcastOf(Lanes.half(w)), sum);
      w += 34;
      x += 128;
    }
    return Lanes.sum(sum, lanes);
  }

  /** Σ over one block of 32 nibbles: low ones meet the first half of the activations. */
  private static FloatVector nibbles(long pairs, long x) {
    FloatVector block = Lanes.broadcastOf(0);
    for (int j = 0; j < 16; j += COUNT) {
      IntVector packed = Lanes.unsignedBytes(pairs + j);
      FloatVector low = Lanes.toFloat(packed.and(0xF));
      FloatVector high = Lanes.toFloat(packed.lanewise(VectorOperators.LSHR, 4));
      block = low.fma(Lanes.load(x + 4L * j), block);
      block = high.fma(Lanes.load(x + 64 + 4L * j), block);
    }
    return block;
  }

  private static float q4Zero(long w, int columns, long x, long sums, long lanes) {
    FloatVector sum = Lanes.broadcastOf(0);
    float offsets = 0;
    for (int i = 0; i < columns; i += 32) {
      float scale = Lanes.half(w);
      sum = nibbles(w + 2, x).fma(Lanes.broadcastOf(scale), sum);
      offsets += scale * Lanes.scalar(sums);
      w += 18;
      x += 128;
      sums += 4;
    }
    return Lanes.sum(sum, lanes) - 8 * offsets;
  }

  private static float q4One(long w, int columns, long x, long sums, long lanes) {
    FloatVector sum = Lanes.broadcastOf(0);
    float minima = 0;
    for (int i = 0; i < columns; i += 32) {
      sum = nibbles(w + 4, x).fma(Lanes.broadcastOf(Lanes.half(w)), sum);
      minima += Lanes.half(w + 2) * Lanes.scalar(sums);
      w += 20;
      x += 128;
      sums += 4;
    }
    return Lanes.sum(sum, lanes) + minima;
  }

  private static float q5Zero(long w, int columns, long x, long lanes) {
    FloatVector sum = Lanes.broadcastOf(0);
    for (int i = 0; i < columns; i += 32) {
      FloatVector block = Lanes.broadcastOf(0);
      for (int j = 0; j < 16; j += COUNT) {
        FloatVector low = Lanes.toFloat(VectorDecode.q5Zero(w, 0, j));
        FloatVector high = Lanes.toFloat(VectorDecode.q5Zero(w, 1, j));
        block = low.fma(Lanes.load(x + 4L * j), block);
        block = high.fma(Lanes.load(x + 64 + 4L * j), block);
      }
      sum = block.fma(Lanes.broadcastOf(Lanes.half(w)), sum);
      w += 22;
      x += 128;
    }
    return Lanes.sum(sum, lanes);
  }

  /** Σ over one block of 32 nibbles that name levels; these are written to scratch memory. */
  private static FloatVector levels(ByteVector levels, long pairs, long x, long lanes) {
    FloatVector block = Lanes.broadcastOf(0);
    for (int half = 0; half < 2; half++) {
      Lanes.putLevels(levels, pairs, 4 * half, lanes);
      for (int j = 0; j < 16; j += COUNT) {
        FloatVector level = Lanes.toFloat(Lanes.signedBytes(lanes + j));
        block = level.fma(Lanes.load(x + 64L * half + 4L * j), block);
      }
    }
    return block;
  }

  private static float iq4Nonlinear(long w, int columns, long x, long lanes) {
    FloatVector sum = Lanes.broadcastOf(0);
    for (int i = 0; i < columns; i += 32) {
      FloatVector block = levels(VectorDecode.NONLINEAR, w + 2, x, lanes);
      sum = block.fma(Lanes.broadcastOf(Lanes.half(w)), sum);
      w += 18;
      x += 128;
    }
    return Lanes.sum(sum, lanes);
  }

  private static float mxfp4(long w, int columns, long x, long lanes) {
    FloatVector sum = Lanes.broadcastOf(0);
    for (int i = 0; i < columns; i += 32) {
      FloatVector block = levels(VectorDecode.DOUBLED_FLOATS, w + 1, x, lanes);
      float scale = FourBitLevels.halfOfE8M0(Lanes.unsignedByte(w));
      sum = block.fma(Lanes.broadcastOf(scale), sum);
      w += 17;
      x += 128;
    }
    return Lanes.sum(sum, lanes);
  }

  /**
   * As many products as there are kept values, half of the columns: each picks its activation of
   * twice as many.
   */
  private static float twoOfFour(long w, int columns, long x, long lanes) {
    FloatVector sum = Lanes.broadcastOf(0);
    for (int i = 0; i < columns; i += 32) {
      int places = Lanes.bits32(w + 32);
      for (int j = 0; j < 16; j += COUNT) {
        IntVector place =
            IntVector.broadcast(Lanes.INTS, places >>> (2 * j))
                .lanewise(VectorOperators.LSHR, PLACE_SHIFTS)
                .and(3)
                .add(FOURS);
        // As whole numbers: the places are some, and a conversion would cost as much.
        IntVector low = Lanes.load(x + 8L * j).reinterpretAsInts();
        IntVector high = Lanes.load(x + 8L * j + Lanes.BYTES).reinterpretAsInts();
        FloatVector picked = place.selectFrom(low, high).reinterpretAsFloats();
        sum = Lanes.halves(w + 2L * j).fma(picked, sum);
      }
      w += 36;
      x += 128;
    }
    return Lanes.sum(sum, lanes);
  }

  private static float q4K(long w, int columns, long x, long sums, long lanes) {
    FloatVector sum = Lanes.broadcastOf(0);
    float minima = 0;
    for (int i = 0; i < columns; i += 256) {
      float scale = Lanes.half(w);
      float minimum = Lanes.half(w + 2);
      for (int sub = 0; sub < 8; sub += 2) {
        FloatVector low = Lanes.broadcastOf(0);
        FloatVector high = Lanes.broadcastOf(0);
        for (int j = 0; j < 32; j += COUNT) {
          IntVector packed = Lanes.unsignedBytes(w + 16 + 16L * sub + j);
          low = Lanes.toFloat(packed.and(0xF)).fma(Lanes.load(x + 4L * j), low);
          FloatVector q = Lanes.toFloat(packed.lanewise(VectorOperators.LSHR, 4));
          high = q.fma(Lanes.load(x + 128 + 4L * j), high);
        }
        sum = low.fma(Lanes.broadcastOf(scale * KScales.scale(w + 4, sub)), sum);
        sum = high.fma(Lanes.broadcastOf(scale * KScales.scale(w + 4, sub + 1)), sum);
        minima += minimum * KScales.minimum(w + 4, sub) * Lanes.scalar(sums);
        minima += minimum * KScales.minimum(w + 4, sub + 1) * Lanes.scalar(sums + 4);
        x += 256;
        sums += 8;
      }
      w += 144;
    }
    return Lanes.sum(sum, lanes) - minima;
  }

  private static float q5K(long w, int columns, long x, long sums, long lanes) {
    FloatVector sum = Lanes.broadcastOf(0);
    float minima = 0;
    for (int i = 0; i < columns; i += 256) {
      float scale = Lanes.half(w);
      float minimum = Lanes.half(w + 2);
      for (int sub = 0; sub < 8; sub++) {
        FloatVector block = Lanes.broadcastOf(0);
        for (int j = 0; j < 32; j += COUNT) {
          FloatVector q = Lanes.toFloat(VectorDecode.q5(w, sub, j));
          block = q.fma(Lanes.load(x + 4L * j), block);
        }
        sum = block.fma(Lanes.broadcastOf(scale * KScales.scale(w + 4, sub)), sum);
        minima += minimum * KScales.minimum(w + 4, sub) * Lanes.scalar(sums);
        x += 128;
        sums += 4;
      }
      w += 176;
    }
    return Lanes.sum(sum, lanes) - minima;
  }

  private static float q6K(long w, int columns, long x, long lanes) {
    FloatVector even = Lanes.broadcastOf(0);
    FloatVector odd = Lanes.broadcastOf(0);
    for (int i = 0; i < columns; i += 256) {
      float scale = Lanes.half(w + 208);
      for (int run = 0; run < 8; run++) {
        for (int j = 0; j < 32; j += 2 * COUNT) {
          even = q6K(w, run, j, scale).fma(Lanes.load(x + 4L * j), even);
          odd = q6K(w, run, j + COUNT, scale).fma(Lanes.load(x + 4L * (j + COUNT)), odd);
        }
        x += 128;
      }
      w += 210;
    }
    return Lanes.sum(even.add(odd), lanes);
  }

  private static FloatVector q6K(long w, int run, int j, float scale) {
    float d = scale * Lanes.signedByte(w + 192 + 2L * run + (j >> 4));
    return Lanes.toFloat(VectorDecode.q6(w, run, j)).mul(d);
  }
}
