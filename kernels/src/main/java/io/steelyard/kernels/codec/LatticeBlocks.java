package io.steelyard.kernels.codec;

import static io.steelyard.kernels.codec.Stored.bits32;
import static io.steelyard.kernels.codec.Stored.half;
import static io.steelyard.kernels.codec.Stored.nibble;
import static io.steelyard.kernels.codec.Stored.unsigned;
import static io.steelyard.kernels.codec.Stored.unsigned16;

import java.lang.foreign.MemorySegment;

/**
 * IQ2_XXS to IQ3_S and IQ1_S, IQ1_M: blocks of 256 values, of which each 8 are one point of a
 * lattice, or two points of 4. In the types of 2 and 3 bits a point holds magnitudes, and signs are
 * stored apart; in those of 1 bit it holds −1, 0 and 1, which are moved up or down by an eighth.
 */
final class LatticeBlocks {
  private static final int EIGHTS = 32;

  /** What the points of IQ1_S and IQ1_M are moved by. */
  static final float SHIFT = 0.125f;

  private static final Grid IQ2_XXS = Grid.ofEight("iq2xxs.grid", 256, 8, 25, 43);
  private static final Grid IQ2_XS = Grid.ofEight("iq2xs.grid", 512, 8, 25, 43);
  private static final Grid IQ2_S = Grid.ofEight("iq2s.grid", 1024, 8, 25, 43);
  private static final Grid IQ3_XXS =
      Grid.ofFour("iq3xxs.grid", 256, 4, 12, 20, 28, 36, 44, 52, 62);
  private static final Grid IQ3_S = Grid.ofFour("iq3s.grid", 512, 1, 3, 5, 7, 9, 11, 13, 15);
  private static final Grid IQ1 = Grid.ofEight("iq1s.grid", 2048, -1, 0, 1);

  private LatticeBlocks() {}

  /** Signs of eight values that are stored as seven bits: the number of minuses is even. */
  private static int evenSigns(int sevenBits) {
    return sevenBits | (Integer.bitCount(sevenBits) & 1) << 7;
  }

  private static void point(Grid grid, int point, int signs, float scale, float[] to, int at) {
    for (int i = 0; i < grid.dimension(); i++) {
      float magnitude = scale * grid.at(point, i);
      to[at + i] = ((signs >> i) & 1) == 0 ? magnitude : -magnitude;
    }
  }

  /**
   * Layout: scale (f16), then for each 32 values four bytes that name points and 32 bits: four
   * times seven signs, and a scale of four bits.
   */
  static void iq2DoublyExtraSmall(MemorySegment from, long offset, float[] to, int at) {
    for (int sub = 0; sub < 8; sub++) {
      long points = offset + 2 + 8L * sub;
      int bits = bits32(from, points + 4);
      float d = iq2DoublyExtraSmallScale(from, offset, sub);
      for (int i = 0; i < 4; i++) {
        int signs = evenSigns((bits >>> (7 * i)) & 0x7F);
        point(IQ2_XXS, unsigned(from, points + i), signs, d, to, at + 32 * sub + 8 * i);
      }
    }
  }

  /** The scale of 32 values of {@link #iq2DoublyExtraSmall}. */
  static float iq2DoublyExtraSmallScale(MemorySegment from, long offset, int sub) {
    int fourBits = bits32(from, offset + 6 + 8L * sub) >>> 28;
    return half(from, offset) * (0.5f + fourBits) * 0.25f;
  }

  /** Layout: scale (f16), 32 times a point of nine bits and seven signs, 16 nibbles of scales. */
  static void iq2ExtraSmall(MemorySegment from, long offset, float[] to, int at) {
    float scale = half(from, offset);
    for (int eight = 0; eight < EIGHTS; eight++) {
      int bits = unsigned16(from, offset + 2 + 2L * eight);
      float d = scale * (0.5f + nibble(from, offset + 66, eight / 2)) * 0.25f;
      point(IQ2_XS, bits & 0x1FF, evenSigns(bits >> 9), d, to, at + 8 * eight);
    }
  }

  /**
   * Layout: scale (f16), 32 low bytes of points, 32 bytes of signs, the points' 32 highest bit
   * pairs, 16 nibbles of scales.
   */
  static void iq2Small(MemorySegment from, long offset, float[] to, int at) {
    float scale = half(from, offset);
    for (int eight = 0; eight < EIGHTS; eight++) {
      int high = (unsigned(from, offset + 66 + eight / 4) >> (2 * (eight % 4))) & 3;
      int point = unsigned(from, offset + 2 + eight) | high << 8;
      float d = scale * (0.5f + nibble(from, offset + 74, eight / 2)) * 0.25f;
      point(IQ2_S, point, unsigned(from, offset + 34 + eight), d, to, at + 8 * eight);
    }
  }

  /**
   * Layout: scale (f16), 64 bytes that name points, then for each 32 values 32 bits as in {@link
   * #iq2DoublyExtraSmall}.
   */
  static void iq3DoublyExtraSmall(MemorySegment from, long offset, float[] to, int at) {
    for (int sub = 0; sub < 8; sub++) {
      int bits = bits32(from, offset + 66 + 4L * sub);
      float d = iq3DoublyExtraSmallScale(from, offset, sub);
      for (int i = 0; i < 8; i++) {
        int point = unsigned(from, offset + 2 + 8L * sub + i);
        int signs = evenSigns((bits >>> (7 * (i / 2))) & 0x7F) >> (4 * (i % 2));
        point(IQ3_XXS, point, signs, d, to, at + 32 * sub + 4 * i);
      }
    }
  }

  /** The scale of 32 values of {@link #iq3DoublyExtraSmall}. */
  static float iq3DoublyExtraSmallScale(MemorySegment from, long offset, int sub) {
    int fourBits = bits32(from, offset + 66 + 4L * sub) >>> 28;
    return half(from, offset) * (0.5f + fourBits) * 0.5f;
  }

  /**
   * Layout: scale (f16), 64 low bytes of points, their 64 highest bits, 32 bytes of signs, 8
   * nibbles of scales.
   */
  static void iq3Small(MemorySegment from, long offset, float[] to, int at) {
    for (int four = 0; four < 2 * EIGHTS; four++) {
      int high = (unsigned(from, offset + 66 + four / 8) >> (four % 8)) & 1;
      int point = unsigned(from, offset + 2 + four) | high << 8;
      int signs = unsigned(from, offset + 74 + four / 2) >> (4 * (four % 2));
      float d = iq3SmallScale(from, offset, four / 8);
      point(IQ3_S, point, signs, d, to, at + 4 * four);
    }
  }

  /** The scale of 32 values of {@link #iq3Small}. */
  static float iq3SmallScale(MemorySegment from, long offset, int sub) {
    return half(from, offset) * (1 + 2 * nibble(from, offset + 106, sub));
  }

  private static void shifted(int point, boolean down, float scale, float[] to, int at) {
    float shift = down ? -SHIFT : SHIFT;
    for (int i = 0; i < IQ1.dimension(); i++) {
      to[at + i] = scale * (IQ1.at(point, i) + shift);
    }
  }

  /**
   * Layout: scale (f16), 32 low bytes of points, then for each 32 values 16 bits: the high three
   * bits of four points, a scale of three bits, and whether they are moved down.
   */
  static void iq1Small(MemorySegment from, long offset, float[] to, int at) {
    for (int eight = 0; eight < EIGHTS; eight++) {
      int bits = unsigned16(from, offset + 34 + 2L * (eight / 4));
      int high = (bits >> (3 * (eight % 4))) & 7;
      int point = unsigned(from, offset + 2 + eight) | high << 8;
      float d = iq1SmallScale(from, offset, eight / 4);
      shifted(point, bits >> 15 != 0, d, to, at + 8 * eight);
    }
  }

  /** The scale of 32 values of {@link #iq1Small}. */
  static float iq1SmallScale(MemorySegment from, long offset, int sub) {
    int threeBits = (unsigned16(from, offset + 34 + 2L * sub) >> 12) & 7;
    return half(from, offset) * (2 * threeBits + 1);
  }

  /**
   * Layout: 32 low bytes of points, 32 nibbles of their high three bits and whether they are moved
   * down, then four times 16 bits: four scales of three bits, and a nibble of the block's scale
   * (f16).
   */
  static void iq1Medium(MemorySegment from, long offset, float[] to, int at) {
    int halfBits = 0;
    for (int i = 0; i < 4; i++) {
      halfBits |= (unsigned16(from, offset + 48 + 2L * i) >> 12) << (4 * i);
    }
    float scale = Float.float16ToFloat((short) halfBits);
    for (int eight = 0; eight < EIGHTS; eight++) {
      int high = nibble(from, offset + 32, eight);
      int point = unsigned(from, offset + eight) | (high & 7) << 8;
      int scales = unsigned16(from, offset + 48 + 2L * (eight / 8));
      float d = scale * (2 * ((scales >> (3 * (eight / 2 % 4))) & 7) + 1);
      shifted(point, (high & 8) != 0, d, to, at + 8 * eight);
    }
  }
}
