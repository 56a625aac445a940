package io.steelyard.kernels.codec;

import static io.steelyard.kernels.codec.Stored.FLOAT;
import static io.steelyard.kernels.codec.Stored.SHORT;
import static io.steelyard.kernels.codec.Stored.half;
import static io.steelyard.kernels.codec.Stored.signed;
import static io.steelyard.kernels.codec.Stored.unsigned;

import java.lang.foreign.MemorySegment;

/**
 * Q2_K to Q8_K: blocks of 256 evenly spaced values with a scale of their own for each 16 or 32 of
 * them.
 */
final class KBlocks {
  private KBlocks() {}

  /**
   * Layout: 16 bytes of scale and minimum (nibbles), 64 of bit pairs, scale and minimum (f16). Each
   * half of 128 values is four runs of 32 in bit pairs 0, 2, 4, 6 of 32 bytes.
   */
  static void q2(MemorySegment from, long offset, float[] to, int at) {
    float scale = half(from, offset + 80);
    float minimum = half(from, offset + 82);
    for (int run = 0; run < 16; run++) {
      int packed = unsigned(from, offset + run);
      float d = scale * (packed & 0xF);
      float m = minimum * (packed >> 4);
      for (int i = 0; i < 16; i++) {
        to[at + 16 * run + i] = d * bitPair(from, offset + 16, run, i) - m;
      }
    }
  }

  /**
   * Layout: 32 bytes of third bits, of which run s of 32 values owns bit s, 64 bytes of bit pairs
   * as in {@link #q2}, 12 of packed 6-bit scales, one scale (f16).
   */
  static void q3(MemorySegment from, long offset, float[] to, int at) {
    float scale = half(from, offset + 108);
    for (int run = 0; run < 16; run++) {
      float d = scale * q3Scale(from, offset + 96, run);
      for (int i = 0; i < 16; i++) {
        to[at + 16 * run + i] = d * q3Value(from, offset, run, i);
      }
    }
  }

  /** The scale of 16 values of {@link #q3}, from -32 to 31: low nibbles of all, then bit pairs. */
  private static int q3Scale(MemorySegment from, long scales, int run) {
    int low = (unsigned(from, scales + run % 8) >> (4 * (run / 8))) & 0xF;
    int high = (unsigned(from, scales + 8 + run % 4) >> (2 * (run / 4))) & 3;
    return (low | high << 4) - 32;
  }

  /** Value i of a run of 16 of {@link #q3}, from -4 to 3. */
  private static int q3Value(MemorySegment from, long offset, int run, int i) {
    int third = (unsigned(from, offset + 16L * (run % 2) + i) >> (run / 2)) & 1;
    return (bitPair(from, offset + 32, run, i) | third << 2) - 4;
  }

  /** Writes a block of {@link #q3} as one of {@link #q6}, which has the same scales. */
  static void q3AsQ6(MemorySegment from, long offset, MemorySegment to, long at) {
    int[] scales = new int[16];
    int[] levels = new int[256];
    for (int run = 0; run < 16; run++) {
      scales[run] = q3Scale(from, offset + 96, run);
      for (int i = 0; i < 16; i++) {
        levels[16 * run + i] = q3Value(from, offset, run, i);
      }
    }
    KBlockEncoder.q6(from.get(SHORT, offset + 108), scales, levels, to, at);
  }

  private static int bitPair(MemorySegment from, long pairs, int run, int i) {
    return (unsigned(from, pairs + 32L * (run / 8) + 16L * (run % 2) + i) >> (run % 8 / 2 * 2)) & 3;
  }

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
        float d = scale * signed(from, offset + 192 + 2L * run + i / 16);
        to[at + 32 * run + i] = d * ((nibble | pair << 4) - 32);
      }
    }
  }

  /**
   * Layout: scale (f32), 256 signed bytes, sums of each 16 of them (two bytes each). Made for
   * activations, as Q8_1 is.
   */
  static void q8(MemorySegment from, long offset, float[] to, int at) {
    float scale = from.get(FLOAT, offset);
    for (int i = 0; i < 256; i++) {
      to[at + i] = scale * signed(from, offset + 4 + i);
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
