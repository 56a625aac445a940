package io.steelyard.kernels.codec;

import static io.steelyard.kernels.codec.Stored.SHORT;
import static io.steelyard.kernels.codec.Stored.signed;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Q2_K to Q6_K: the best scale, and minimum, of each 16 or 32 values; those as multiples of the
 * block's; then the levels that are nearest with what is stored. Layouts: {@link KBlocks}.
 */
final class KBlockEncoder {
  private static final int SIZE = 256;

  private KBlockEncoder() {}

  /**
   * A block's levels, and its parts' scales and minima in whole multiples of the block's own.
   *
   * @param scale the block's scale as float16
   * @param minimum the block's minimum as float16
   */
  private record Block(short scale, short minimum, int[] scales, int[] minima, int[] levels) {}

  /** Levels from 0 on, with minima. */
  private static Block withMinima(
      float[] values, int from, int part, int highest, int most, Fit.Weights weights) {
    int parts = SIZE / part;
    Fit.Line[] lines = new Fit.Line[parts];
    float largestScale = 0;
    float largestMinimum = 0;
    for (int p = 0; p < parts; p++) {
      lines[p] = Fit.line(values, from + p * part, part, highest, weights.from(p * part));
      largestScale = Math.max(largestScale, lines[p].scale());
      largestMinimum = Math.max(largestMinimum, lines[p].minimum());
    }
    short scale = Float.floatToFloat16(largestScale / most);
    short minimum = Float.floatToFloat16(largestMinimum / most);
    float d = Float.float16ToFloat(scale);
    float m = Float.float16ToFloat(minimum);
    int[] scales = new int[parts];
    int[] minima = new int[parts];
    int[] levels = new int[SIZE];
    for (int p = 0; p < parts; p++) {
      int[] best =
          nearby(
              values, from + p * part, part, highest, most, lines[p], d, m, weights.from(p * part));
      scales[p] = best[0];
      minima[p] = best[1];
      float step = d * scales[p];
      for (int i = p * part; step != 0 && i < (p + 1) * part; i++) {
        levels[i] = Fit.level((values[from + i] + m * minima[p]) / step, 0, highest);
      }
    }
    return new Block(scale, minimum, scales, minima, levels);
  }

  /**
   * The best whole multiples of the block's scale and minimum, of those next to a line's: the
   * nearest of each need not be.
   */
  private static int[] nearby(
      float[] values,
      int from,
      int count,
      int highest,
      int most,
      Fit.Line line,
      float d,
      float m,
      Fit.Weights weights) {
    int scale = d == 0 ? 0 : Fit.level(line.scale() / d, 0, most);
    int minimum = m == 0 ? 0 : Fit.level(line.minimum() / m, 0, most);
    int[] best = {scale, minimum};
    double least = Double.MAX_VALUE;
    for (int s = Math.max(0, scale - 1); d != 0 && s <= Math.min(most, scale + 1); s++) {
      for (int o = Math.max(0, minimum - 1); o <= Math.min(most, minimum + 1); o++) {
        Fit.Line tried = new Fit.Line(d * s, m * o);
        double error = Fit.error(values, from, count, highest, tried, weights);
        if (error < least) {
          least = error;
          best = new int[] {s, o};
        }
      }
    }
    return best;
  }

  /** Levels around zero of each 16 values; they and their scales are signed. */
  private static Block aroundZero(
      float[] values, int from, int lowest, int lowestScale, Fit.Weights weights) {
    int parts = SIZE / 16;
    float[] best = new float[parts];
    for (int p = 0; p < parts; p++) {
      best[p] = Fit.scale(values, from + 16 * p, 16, lowest, -lowest - 1, weights.from(16 * p));
    }
    short scale = Float.floatToFloat16(Fit.extreme(best, 0, parts) / lowestScale);
    float d = Float.float16ToFloat(scale);
    int[] scales = new int[parts];
    int[] levels = new int[SIZE];
    for (int p = 0; p < parts; p++) {
      scales[p] = d == 0 ? 0 : Fit.level(best[p] / d, lowestScale, -lowestScale - 1);
      float step = d * scales[p];
      for (int i = 16 * p; step != 0 && i < 16 * (p + 1); i++) {
        levels[i] = Fit.level(values[from + i] / step, lowest, -lowest - 1);
      }
    }
    return new Block(scale, (short) 0, scales, new int[parts], levels);
  }

  static void q2(float[] values, int from, Fit.Weights weights, MemorySegment to, long offset) {
    Block block = withMinima(values, from, 16, 3, 15, weights);
    for (int run = 0; run < 16; run++) {
      put(to, offset + run, block.scales()[run] | block.minima()[run] << 4);
    }
    bitPairs(block.levels(), 0, to, offset + 16);
    to.set(SHORT, offset + 80, block.scale());
    to.set(SHORT, offset + 82, block.minimum());
  }

  static void q3(float[] values, int from, Fit.Weights weights, MemorySegment to, long offset) {
    Block block = aroundZero(values, from, -4, -32, weights);
    clear(to, offset, 108);
    for (int i = 0; i < SIZE; i++) {
      add(to, offset + i % 32, ((block.levels()[i] + 4) >> 2) << (i / 32));
    }
    bitPairs(block.levels(), 4, to, offset + 32);
    for (int run = 0; run < 16; run++) {
      int scale = block.scales()[run] + 32;
      add(to, offset + 96 + run % 8, (scale & 0xF) << (4 * (run / 8)));
      add(to, offset + 104 + run % 4, (scale >> 4) << (2 * (run / 4)));
    }
    to.set(SHORT, offset + 108, block.scale());
  }

  /** The low two bits of levels with so much added: see {@link KBlocks#q2}. */
  private static void bitPairs(int[] levels, int excess, MemorySegment to, long at) {
    clear(to, at, 64);
    for (int i = 0; i < SIZE; i++) {
      int pair = (levels[i] + excess) & 3;
      add(to, at + 32L * (i / 128) + i % 32, pair << (i % 128 / 32 * 2));
    }
  }

  static void q4(float[] values, int from, Fit.Weights weights, MemorySegment to, long offset) {
    Block block = withMinima(values, from, 32, 15, 63, weights);
    head(block, to, offset);
    nibbles(block.levels(), to, offset + 16);
  }

  static void q5(float[] values, int from, Fit.Weights weights, MemorySegment to, long offset) {
    Block block = withMinima(values, from, 32, 31, 63, weights);
    head(block, to, offset);
    clear(to, offset + 16, 32);
    for (int i = 0; i < SIZE; i++) {
      add(to, offset + 16 + i % 32, (block.levels()[i] >> 4) << (i / 32));
    }
    nibbles(block.levels(), to, offset + 48);
  }

  /** Scale, minimum and the 6-bit numbers of Q4_K and Q5_K. */
  private static void head(Block block, MemorySegment to, long offset) {
    to.set(SHORT, offset, block.scale());
    to.set(SHORT, offset + 2, block.minimum());
    clear(to, offset + 4, 12);
    for (int sub = 0; sub < 4; sub++) {
      int scale = block.scales()[sub + 4];
      int minimum = block.minima()[sub + 4];
      put(to, offset + 4 + sub, block.scales()[sub] | (scale >> 4) << 6);
      put(to, offset + 8 + sub, block.minima()[sub] | (minimum >> 4) << 6);
      put(to, offset + 12 + sub, (scale & 0xF) | (minimum & 0xF) << 4);
    }
  }

  /** Of each 64 values the first 32 are the low nibbles of 32 bytes. */
  private static void nibbles(int[] levels, MemorySegment to, long at) {
    clear(to, at, 128);
    for (int i = 0; i < SIZE; i++) {
      add(to, at + 32L * (i / 64) + i % 32, (levels[i] & 0xF) << (i % 64 / 32 * 4));
    }
  }

  static void q6(float[] values, int from, Fit.Weights weights, MemorySegment to, long offset) {
    Block block = aroundZero(values, from, -32, -128, weights);
    q6(block.scale(), block.scales(), block.levels(), to, offset);
  }

  /** Writes a block of Q6_K: 16 signed scales, and levels from -32 to 31. */
  static void q6(short scale, int[] scales, int[] levels, MemorySegment to, long offset) {
    clear(to, offset, 192);
    for (int i = 0; i < SIZE; i++) {
      int level = levels[i] + 32;
      int run = i / 32;
      long low = offset + 64L * (run / 4) + 32L * (run % 2) + i % 32;
      add(to, low, (level & 0xF) << (run % 4 / 2 * 4));
      add(to, offset + 128 + 32L * (run / 4) + i % 32, (level >> 4) << (run % 4 * 2));
    }
    for (int run = 0; run < 16; run++) {
      put(to, offset + 192 + run, scales[run]);
    }
    to.set(SHORT, offset + 208, scale);
  }

  private static void clear(MemorySegment to, long at, long bytes) {
    to.asSlice(at, bytes).fill((byte) 0);
  }

  private static void put(MemorySegment to, long at, int bits) {
    to.set(ValueLayout.JAVA_BYTE, at, (byte) bits);
  }

  /** Adds bits to a byte that has none of them. */
  private static void add(MemorySegment to, long at, int bits) {
    put(to, at, signed(to, at) | bits);
  }
}
