package io.steelyard.kernels.codec;

import static io.steelyard.kernels.codec.Stored.INT;
import static io.steelyard.kernels.codec.Stored.SHORT;
import static io.steelyard.kernels.codec.Stored.bits32;
import static io.steelyard.kernels.codec.Stored.half;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * 2:4 sparsity: of each 4 consecutive values the 2 of largest magnitude are kept, as float16, with
 * two bits each for their places; the other 2 are zero.
 *
 * <p>Layout: 16 values (f16) of 32, in order; then 32 bits: value i lies at place (bits >> 2i) & 3
 * of the four that it is of.
 */
final class TwoOfFour {
  private static final int SIZE = 32;
  private static final int KEPT = SIZE / 2;

  private TwoOfFour() {}

  static void decode(MemorySegment from, long offset, float[] to, int at) {
    Arrays.fill(to, at, at + SIZE, 0);
    int places = bits32(from, offset + 2 * KEPT);
    for (int i = 0; i < KEPT; i++) {
      to[at + i / 2 * 4 + ((places >>> (2 * i)) & 3)] = half(from, offset + 2L * i);
    }
  }

  static void encode(float[] values, int from, MemorySegment to, long offset) {
    int places = 0;
    for (int four = 0; four < SIZE / 4; four++) {
      int first = largest(values, from + 4 * four, -1);
      int second = largest(values, from + 4 * four, first);
      int low = Math.min(first, second);
      int high = Math.max(first, second);
      put(to, offset + 4L * four, values[from + 4 * four + low]);
      put(to, offset + 4L * four + 2, values[from + 4 * four + high]);
      places |= (low | high << 2) << (4 * four);
    }
    to.set(INT, offset + 2 * KEPT, places);
  }

  /** The place of the largest magnitude of four but for one place; of equal ones the first. */
  private static int largest(float[] values, int from, int but) {
    int largest = but == 0 ? 1 : 0;
    for (int i = largest + 1; i < 4; i++) {
      if (i != but && Math.abs(values[from + i]) > Math.abs(values[from + largest])) {
        largest = i;
      }
    }
    return largest;
  }

  private static void put(MemorySegment to, long at, float value) {
    to.set(SHORT, at, Float.floatToFloat16(value));
  }
}
