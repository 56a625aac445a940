package io.steelyard.kernels.codec;

import static io.steelyard.kernels.codec.Stored.INT;
import static io.steelyard.kernels.codec.Stored.SHORT;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Q4_0 to Q8_0 as ggml's reference quantisers write them: the extremes decide the scale. Layouts
 * are those of {@link SmallBlocks}.
 */
final class SmallBlockEncoder {
  private static final int SIZE = 32;
  private static final int HALF = SIZE / 2;

  private SmallBlockEncoder() {}

  /** Scale of largest magnitude / 127, then 32 signed bytes. */
  static void q8Zero(float[] values, int from, MemorySegment to, long offset) {
    float scale = Math.abs(Fit.extreme(values, from, SIZE)) / 127;
    float inverse = scale == 0 ? 0 : 1 / scale;
    to.set(SHORT, offset, Float.floatToFloat16(scale));
    for (int i = 0; i < SIZE; i++) {
      to.set(ValueLayout.JAVA_BYTE, offset + 2 + i, (byte) round(values[from + i] * inverse));
    }
  }

  /** Half away from zero, as C's {@code roundf}; adding a half first would misround 0.49999997. */
  private static int round(float value) {
    int whole = (int) value;
    float rest = value - whole;
    return rest >= 0.5f ? whole + 1 : rest <= -0.5f ? whole - 1 : whole;
  }

  /** Scale of the value of largest magnitude / -8, which that value then meets exactly. */
  static void q4Zero(float[] values, int from, MemorySegment to, long offset) {
    int[] levels = aroundZero(values, from, 8, to, offset);
    nibbles(levels, to, offset + 2);
  }

  /** As {@link #q4Zero} with / -16. */
  static void q5Zero(float[] values, int from, MemorySegment to, long offset) {
    int[] levels = aroundZero(values, from, 16, to, offset);
    fifthBits(levels, to, offset + 2);
    nibbles(levels, to, offset + 6);
  }

  private static int[] aroundZero(
      float[] values, int from, int middle, MemorySegment to, long offset) {
    float scale = Fit.extreme(values, from, SIZE) / -middle;
    float inverse = scale == 0 ? 0 : 1 / scale;
    to.set(SHORT, offset, Float.floatToFloat16(scale));
    int[] levels = new int[SIZE];
    for (int i = 0; i < SIZE; i++) {
      levels[i] = Math.min(2 * middle - 1, (int) (values[from + i] * inverse + middle + 0.5f));
    }
    return levels;
  }

  /** The least value as minimum, and a scale that reaches the largest with 15 steps. */
  static void q4One(float[] values, int from, MemorySegment to, long offset) {
    int[] levels = fromMinimum(values, from, 15, to, offset);
    nibbles(levels, to, offset + 4);
  }

  /** As {@link #q4One} with 31 steps. */
  static void q5One(float[] values, int from, MemorySegment to, long offset) {
    int[] levels = fromMinimum(values, from, 31, to, offset);
    fifthBits(levels, to, offset + 4);
    nibbles(levels, to, offset + 8);
  }

  private static int[] fromMinimum(
      float[] values, int from, int steps, MemorySegment to, long offset) {
    float least = values[from];
    float most = values[from];
    for (int i = from; i < from + SIZE; i++) {
      least = Math.min(least, values[i]);
      most = Math.max(most, values[i]);
    }
    float scale = (most - least) / steps;
    float inverse = scale == 0 ? 0 : 1 / scale;
    to.set(SHORT, offset, Float.floatToFloat16(scale));
    to.set(SHORT, offset + 2, Float.floatToFloat16(least));
    int[] levels = new int[SIZE];
    for (int i = 0; i < SIZE; i++) {
      levels[i] = Math.min(steps, (int) ((values[from + i] - least) * inverse + 0.5f));
    }
    return levels;
  }

  private static void fifthBits(int[] levels, MemorySegment to, long at) {
    int bits = 0;
    for (int i = 0; i < SIZE; i++) {
      bits |= (levels[i] >> 4) << i;
    }
    to.set(INT, at, bits);
  }

  /** The low four bits: of a byte the low half is of the block's first 16. */
  static void nibbles(int[] levels, MemorySegment to, long at) {
    for (int i = 0; i < HALF; i++) {
      int pair = (levels[i] & 0xF) | (levels[i + HALF] & 0xF) << 4;
      to.set(ValueLayout.JAVA_BYTE, at + i, (byte) pair);
    }
  }
}
