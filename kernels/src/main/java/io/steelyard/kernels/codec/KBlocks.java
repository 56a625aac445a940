package io.steelyard.kernels.codec;

import static io.steelyard.kernels.codec.Codec.half;
import static io.steelyard.kernels.codec.Codec.unsigned;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The "K" types: blocks of 256 values with a scale of their own for each 16 or 32 of them. */
final class KBlocks {
  private KBlocks() {}

  /**
   * Layout: scale and minimum (f16), 12 bytes of packed 6-bit scales and minima, 128 of nibbles.
   */
  static void q4(MemorySegment from, long offset, float[] to, int at) {
    float scale = half(from, offset);
    float minimum = half(from, offset + 2);
    for (int sub = 0; sub < 8; sub++) {
      float d = scale * subScale(from, offset + 4, sub);
      float m = minimum * subMinimum(from, offset + 4, sub);
      long nibbles = offset + 16 + 32L * (sub / 2);
      int shift = 4 * (sub % 2);
      for (int i = 0; i < 32; i++) {
        int q = (unsigned(from, nibbles + i) >> shift) & 0xF;
        to[at + 32 * sub + i] = d * q - m;
      }
    }
  }

  /** As {@link #q4} with 32 bytes of fifth bits before the nibbles; sub-block s owns bit s. */
  static void q5(MemorySegment from, long offset, float[] to, int at) {
    float scale = half(from, offset);
    float minimum = half(from, offset + 2);
    for (int sub = 0; sub < 8; sub++) {
      float d = scale * subScale(from, offset + 4, sub);
      float m = minimum * subMinimum(from, offset + 4, sub);
      long nibbles = offset + 48 + 32L * (sub / 2);
      int shift = 4 * (sub % 2);
      for (int i = 0; i < 32; i++) {
        int fifth = (unsigned(from, offset + 16 + i) >> sub) & 1;
        int q = ((unsigned(from, nibbles + i) >> shift) & 0xF) + 16 * fifth;
        to[at + 32 * sub + i] = d * q - m;
      }
    }
  }

  /**
   * Layout: 128 bytes of low nibbles, 64 of high bit pairs, 16 signed scales, one scale (f16). Each
   * half of 128 values is four runs of 32: nibbles low/low/high/high of two 32-byte groups, and bit
   * pairs 0, 2, 4, 6 of one.
   */
  static void q6(MemorySegment from, long offset, float[] to, int at) {
    float scale = half(from, offset + 208);
    for (int run = 0; run < 8; run++) {
      int inHalf = run % 4;
      long low = offset + 64L * (run / 4) + 32L * (inHalf % 2);
      long high = offset + 128 + 32L * (run / 4);
      for (int i = 0; i < 32; i++) {
        int nibble = (unsigned(from, low + i) >> (4 * (inHalf / 2))) & 0xF;
        int pair = (unsigned(from, high + i) >> (2 * inHalf)) & 3;
        float d = scale * from.get(ValueLayout.JAVA_BYTE, offset + 192 + 2L * run + i / 16);
        to[at + 32 * run + i] = d * ((nibble | pair << 4) - 32);
      }
    }
  }

  /** The 6-bit scale of a sub-block of {@link #q4} and {@link #q5}. */
  private static int subScale(MemorySegment from, long scales, int sub) {
    return sub < 4
        ? unsigned(from, scales + sub) & 63
        : (unsigned(from, scales + sub + 4) & 0xF) | (unsigned(from, scales + sub - 4) >> 6) << 4;
  }

  /** The 6-bit minimum of a sub-block of {@link #q4} and {@link #q5}. */
  private static int subMinimum(MemorySegment from, long scales, int sub) {
    return sub < 4
        ? unsigned(from, scales + sub + 4) & 63
        : unsigned(from, scales + sub + 4) >> 4 | (unsigned(from, scales + sub) >> 6) << 4;
  }
}
