package io.steelyard.kernels.codec;

import static io.steelyard.kernels.codec.Stored.INT;
import static io.steelyard.kernels.codec.Stored.SHORT;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * IQ4_NL, IQ4_XS, MXFP4 and NVFP4: each value takes the nearest of 16 levels. Layouts: {@link
 * FourBitLevels}.
 */
final class LevelEncoder {
  private static final int SIZE = 32;
  private static final int TRIALS = 32;

  /**
   * The nonlinear level that is nearest to each half, from the least level to the largest. Between
   * two levels the middle is a half, so that numbers up to a half have its level.
   */
  private static final byte[] OF_HALVES = ofHalves();

  private LevelEncoder() {}

  /** The exponent that brings the largest magnitude under 8 halves of a level, as ggml chooses. */
  static void mxfp4(float[] values, int from, MemorySegment to, long offset) {
    float largest = Math.abs(Fit.extreme(values, from, SIZE));
    // The largest level is 6, which is 2^2 times 1.5.
    int exponent = largest == 0 ? 0 : Math.clamp(Math.getExponent(largest) - 2 + 127, 0, 254);
    float scale = FourBitLevels.halfOfE8M0(exponent);
    to.set(ValueLayout.JAVA_BYTE, offset, (byte) exponent);
    int[] levels = nearest(FourBitLevels.doubledFloats(), values, from, SIZE, scale);
    SmallBlockEncoder.nibbles(levels, to, offset + 1);
  }

  /** The scale that is nearest to a sixth of the largest magnitude of 16 values. */
  static void nvfp4(float[] values, int from, MemorySegment to, long offset) {
    for (int sub = 0; sub < 4; sub++) {
      int first = from + 16 * sub;
      float largest = Math.abs(Fit.extreme(values, first, 16));
      int bits = SmallFloat.E4M3.bits(largest / SmallFloat.E2M1.largest());
      to.set(ValueLayout.JAVA_BYTE, offset + sub, (byte) bits);
      float scale = FourBitLevels.halfOfE4M3(bits);
      int[] levels = nearest(FourBitLevels.doubledFloats(), values, first, 16, scale);
      for (int i = 0; i < 8; i++) {
        byte pair = (byte) (levels[i] | levels[8 + i] << 4);
        to.set(ValueLayout.JAVA_BYTE, offset + 4 + 8L * sub + i, pair);
      }
    }
  }

  /** The best scale, as float16. */
  static void iq4Nonlinear(
      float[] values, int from, Fit.Weights weights, MemorySegment to, long offset) {
    short stored = Float.floatToFloat16(scale(values, from, weights));
    to.set(SHORT, offset, stored);
    float scale = Float.float16ToFloat(stored);
    int[] levels = nearest(FourBitLevels.nonlinear(), values, from, SIZE, scale);
    SmallBlockEncoder.nibbles(levels, to, offset + 2);
  }

  /** The best scales of each 32 values, as whole multiples of the block's. */
  static void iq4ExtraSmall(
      float[] values, int from, Fit.Weights weights, MemorySegment to, long offset) {
    float[] scales = new float[8];
    for (int sub = 0; sub < 8; sub++) {
      scales[sub] = scale(values, from + SIZE * sub, weights.from(SIZE * sub));
    }
    short stored = Float.floatToFloat16(Fit.extreme(scales, 0, 8) / -32);
    float d = Float.float16ToFloat(stored);
    int high = 0;
    int low = 0;
    for (int sub = 0; sub < 8; sub++) {
      int multiple = d == 0 ? 0 : Fit.level(scales[sub] / d, -32, 31);
      low |= ((multiple + 32) & 0xF) << (4 * sub);
      high |= ((multiple + 32) >> 4) << (2 * sub);
      int first = from + SIZE * sub;
      int[] levels = nearest(FourBitLevels.nonlinear(), values, first, SIZE, d * multiple);
      SmallBlockEncoder.nibbles(levels, to, offset + 8 + 16L * sub);
    }
    to.set(SHORT, offset, stored);
    to.set(SHORT, offset + 2, (short) high);
    to.set(INT, offset + 4, low);
  }

  /** The scale with the least squared error, of some around those that meet the extreme value. */
  private static float scale(float[] values, int from, Fit.Weights weights) {
    byte[] table = FourBitLevels.nonlinear();
    int least = 2 * table[0];
    float extreme = Fit.extreme(values, from, SIZE);
    double best = 0;
    float scale = 0;
    for (byte end : new byte[] {table[0], table[15]}) {
      for (int trial = -TRIALS; extreme != 0 && trial <= TRIALS; trial++) {
        float halves = 2 * (end + trial / 2f) / extreme;
        double products = 0;
        double squares = 0;
        for (int i = 0; i < SIZE; i++) {
          int half = (int) Math.ceil(values[from + i] * halves) - least;
          double level = OF_HALVES[Math.clamp(half, 0, OF_HALVES.length - 1)];
          double weight = weights.each()[weights.at() + i];
          products += weight * values[from + i] * level;
          squares += weight * level * level;
        }
        if (products * products > best * squares) {
          best = products * products / squares;
          scale = (float) (products / squares);
        }
      }
    }
    return scale;
  }

  private static byte[] ofHalves() {
    byte[] table = FourBitLevels.nonlinear();
    byte[] levels = new byte[2 * (table[table.length - 1] - table[0]) + 1];
    for (int i = 0; i < levels.length; i++) {
      float[] half = {table[0] + i / 2f};
      levels[i] = table[nearest(table, half, 0, 1, 1)[0]];
    }
    return levels;
  }

  /** The index of each value's nearest level; of equally near ones the first. */
  private static int[] nearest(byte[] levels, float[] values, int from, int count, float scale) {
    int[] nearest = new int[count];
    for (int i = 0; i < count; i++) {
      float least = Float.MAX_VALUE;
      for (int level = 0; level < levels.length; level++) {
        float distance = Math.abs(levels[level] * scale - values[from + i]);
        if (distance < least) {
          least = distance;
          nearest[i] = level;
        }
      }
    }
    return nearest;
  }
}
