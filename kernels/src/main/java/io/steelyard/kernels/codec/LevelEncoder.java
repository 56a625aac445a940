package io.steelyard.kernels.codec;

import static io.steelyard.kernels.codec.Stored.SHORT;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** IQ4_NL and MXFP4: each value takes the nearest of 16 levels. Layouts: {@link FourBitLevels}. */
final class LevelEncoder {
  private static final int SIZE = 32;
  private static final int TRIALS = 32;

  private LevelEncoder() {}

  /** The exponent that brings the largest magnitude under 8 halves of a level, as ggml chooses. */
  static void mxfp4(float[] values, int from, MemorySegment to, long offset) {
    float largest = Math.abs(Fit.extreme(values, from, SIZE));
    // The largest level is 6, which is 2^2 times 1.5.
    int exponent = largest == 0 ? 0 : Math.clamp(Math.getExponent(largest) - 2 + 127, 0, 254);
    float scale = FourBitLevels.halfOfE8M0(exponent);
    to.set(ValueLayout.JAVA_BYTE, offset, (byte) exponent);
    int[] levels = nearest(FourBitLevels.doubledFloats(), values, from, scale);
    SmallBlockEncoder.nibbles(levels, to, offset + 1);
  }

  /** The scale with the least squared error, of some around those that meet the extreme value. */
  static void iq4Nonlinear(float[] values, int from, MemorySegment to, long offset) {
    byte[] table = FourBitLevels.nonlinear();
    float extreme = Fit.extreme(values, from, SIZE);
    double best = 0;
    float scale = 0;
    for (byte end : new byte[] {table[0], table[15]}) {
      for (int trial = -TRIALS; extreme != 0 && trial <= TRIALS; trial++) {
        int[] levels = nearest(table, values, from, extreme / (end + trial / 2f));
        double products = 0;
        double squares = 0;
        for (int i = 0; i < SIZE; i++) {
          double level = table[levels[i]];
          products += values[from + i] * level;
          squares += level * level;
        }
        if (products * products > best * squares) {
          best = products * products / squares;
          scale = (float) (products / squares);
        }
      }
    }
    short stored = Float.floatToFloat16(scale);
    to.set(SHORT, offset, stored);
    int[] levels = nearest(table, values, from, Float.float16ToFloat(stored));
    SmallBlockEncoder.nibbles(levels, to, offset + 2);
  }

  /** The index of each value's nearest level; of equally near ones the first. */
  private static int[] nearest(byte[] levels, float[] values, int from, float scale) {
    int[] nearest = new int[SIZE];
    for (int i = 0; i < SIZE; i++) {
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
