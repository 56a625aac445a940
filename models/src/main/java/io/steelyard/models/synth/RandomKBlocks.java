package io.steelyard.models.synth;

import io.steelyard.kernels.DataType;
import io.steelyard.models.gguf.GgufWriter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Random blocks of the types Q4_K, Q5_K and Q6_K, drawn as they are stored instead of quantised
 * from floats. The values that they decode to have mean 0 and the deviation asked for.
 *
 * <p>Quants are plain random bits, each level as likely as any other. The scale of a block of 256
 * values lies within a quarter of its usual size, and the scales of the sub-blocks in it spread
 * over an octave. Signs and minima bring the mean to 0:
 *
 * <ul>
 *   <li>Q4_K and Q5_K take a minimum from every value of a sub-block. It is the sub-block's scale
 *       times the middle level, give or take a few per cent.
 *   <li>Q6_K has signed scales. Its levels run from -32 to 31, so that a positive scale alone would
 *       leave a mean just under 0; scales of either sign, which a quantiser writes too, don't.
 * </ul>
 *
 * <p>Integers come from {@link SplitMix}; the few floats come from single operations and roundings
 * that IEEE 754 fixes: equal bits on every machine. Source of the layouts: {@code ggml-common.h}.
 */
final class RandomKBlocks implements GgufWriter.Content {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** Indices that one block owns: from 0 quants, from the others what their names say. */
  private static final int DRAWS = 64;

  private static final int SUB_BLOCK_DRAW = 32;
  private static final int BLOCK_DRAW = DRAWS - 1;

  // A block's scale is a whole number from 192 to 319, in 256ths.
  private static final int SPREAD_LOWEST = 192;
  private static final int SPREAD_COUNT = 128;
  private static final int SPREAD_UNIT = 256;

  // Q4_K and Q5_K: six bits hold scales from 28 to 59 and minima up to 3 beyond either end.
  private static final int SCALE_LOWEST = 28;
  private static final int SCALE_COUNT = 32;
  private static final int STRAY_COUNT = 4;

  // Q6_K: seven bits and a sign hold scales from 64 to 127.
  private static final int SIGNED_SCALE_LOWEST = 64;
  private static final int SIGNED_SCALE_COUNT = 64;

  private final DataType type;
  private final SplitMix random;
  private final float scale;
  private final float middleLevel;

  /**
   * The blocks of a tensor.
   *
   * @param type Q4_K, Q5_K or Q6_K
   * @param random the tensor's bits
   * @param deviation of the values that the blocks decode to
   * @throws IllegalArgumentException for another type
   */
  RandomKBlocks(DataType type, SplitMix random, double deviation) {
    this.type = type;
    this.random = random;
    double levels =
        switch (type) {
          case Q4_K -> 16;
          case Q5_K -> 32;
          case Q6_K -> 64;
          default -> throw new IllegalArgumentException(type + " is not Q4_K, Q5_K or Q6_K");
        };
    this.middleLevel = (float) ((levels - 1) / 2);
    double unscaled =
        type == DataType.Q6_K
            ? meanSquare(SIGNED_SCALE_LOWEST, SIGNED_SCALE_COUNT) * meanSquare(-levels / 2, levels)
            : meanSquare(SCALE_LOWEST, SCALE_COUNT) * meanSquare(-middleLevel, levels)
                + middleLevel * middleLevel * strayMeanSquare();
    double spread = meanSquare(SPREAD_LOWEST, SPREAD_COUNT) / ((double) SPREAD_UNIT * SPREAD_UNIT);
    this.scale = (float) (deviation / Math.sqrt(spread * unscaled));
  }

  @Override
  public void fill(long from, MemorySegment part) {
    long draw = from / type.blockBytes() * DRAWS;
    for (long at = 0; at < part.byteSize(); at += type.blockBytes()) {
      MemorySegment block = part.asSlice(at, type.blockBytes());
      if (type == DataType.Q6_K) {
        fillWithSigns(block, draw);
      } else {
        fillWithMinima(block, draw);
      }
      draw += DRAWS;
    }
  }

  /** Q4_K and Q5_K: scale, minimum, 12 bytes of sub-block scales and minima; the rest is quants. */
  private void fillWithMinima(MemorySegment block, long draw) {
    short stored = blockScale(draw);
    block.set(SHORT, 0, stored);
    // From the scale as it is stored, or the mean would share the scale's rounding.
    block.set(SHORT, 2, Float.floatToFloat16(middleLevel * Float.float16ToFloat(stored)));
    for (int pair = 0; pair < 4; pair++) {
      // Sub-blocks s and s + 4 share three bytes: the fifth and sixth bits of the latter's numbers
      // stand above the former's.
      int first = subBlock(draw, pair);
      int second = subBlock(draw, pair + 4);
      int scales = scaleOf(first) | scaleOf(second) >> 4 << 6;
      int minima = minimumOf(first) | minimumOf(second) >> 4 << 6;
      int low = (scaleOf(second) & 0xF) | (minimumOf(second) & 0xF) << 4;
      block.set(ValueLayout.JAVA_BYTE, 4 + pair, (byte) scales);
      block.set(ValueLayout.JAVA_BYTE, 8 + pair, (byte) minima);
      block.set(ValueLayout.JAVA_BYTE, 12 + pair, (byte) low);
    }
    fillQuants(block, 16, type.blockBytes(), draw);
  }

  /** Q6_K: 192 bytes of quants, 16 signed sub-block scales, scale. */
  private void fillWithSigns(MemorySegment block, long draw) {
    fillQuants(block, 0, 192, draw);
    for (int sub = 0; sub < 16; sub++) {
      int bits = subBlock(draw, sub);
      int magnitude = SIGNED_SCALE_LOWEST + (bits & (SIGNED_SCALE_COUNT - 1));
      block.set(ValueLayout.JAVA_BYTE, 192 + sub, (byte) (bits < 0 ? -magnitude : magnitude));
    }
    block.set(SHORT, 208, blockScale(draw));
  }

  private void fillQuants(MemorySegment block, int from, int to, long draw) {
    for (int at = from; at < to; at += Long.BYTES) {
      block.set(LONG, at, random.at(draw + (at - from) / Long.BYTES));
    }
  }

  private short blockScale(long draw) {
    int spread = SPREAD_LOWEST + (int) (random.at(draw + BLOCK_DRAW) & (SPREAD_COUNT - 1));
    return Float.floatToFloat16(scale * spread / SPREAD_UNIT);
  }

  private int subBlock(long draw, int sub) {
    return (int) random.at(draw + SUB_BLOCK_DRAW + sub);
  }

  private static int scaleOf(int bits) {
    return SCALE_LOWEST + (bits & (SCALE_COUNT - 1));
  }

  /** The scale, and the difference of two equally distributed numbers, whose mean is 0. */
  private static int minimumOf(int bits) {
    return scaleOf(bits) + ((bits >>> 8) & (STRAY_COUNT - 1)) - ((bits >>> 16) & (STRAY_COUNT - 1));
  }

  private static double strayMeanSquare() {
    return 2 * (STRAY_COUNT * STRAY_COUNT - 1) / 12.0;
  }

  /** Mean square of that many neighbouring numbers, one apart, each as likely as any other. */
  private static double meanSquare(double lowest, double count) {
    double mean = lowest + (count - 1) / 2;
    return mean * mean + (count * count - 1) / 12;
  }
}
