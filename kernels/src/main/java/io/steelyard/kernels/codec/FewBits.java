package io.steelyard.kernels.codec;

import static io.steelyard.kernels.codec.Stored.half;
import static io.steelyard.kernels.codec.Stored.unsigned;

import java.lang.foreign.MemorySegment;

/** Q1_0, Q2_0, TQ1_0 and TQ2_0: one scale times −1 or 1, −1 to 2, and −1, 0 or 1. */
final class FewBits {
  private FewBits() {}

  /** Layout: scale (f16), 128 bits, of which a set one is plus. */
  static void q1Zero(MemorySegment from, long offset, float[] to, int at) {
    float scale = half(from, offset);
    for (int i = 0; i < 128; i++) {
      boolean plus = ((unsigned(from, offset + 2 + i / 8) >> (i % 8)) & 1) != 0;
      to[at + i] = plus ? scale : -scale;
    }
  }

  /** Layout: scale (f16), 64 pairs of bits, in order; 1 is zero. */
  static void q2Zero(MemorySegment from, long offset, float[] to, int at) {
    float scale = half(from, offset);
    for (int i = 0; i < 64; i++) {
      int pair = (unsigned(from, offset + 2 + i / 4) >> (2 * (i % 4))) & 3;
      to[at + i] = (pair - 1) * scale;
    }
  }

  /**
   * Layout: 48 bytes of five base-3 digits, 4 of four, scale (f16). A byte is the digits' number as
   * a fraction of 256, so that three times it carries the first digit out. Digit n of bytes that
   * stand together makes values that stand together.
   */
  static void tq1Zero(MemorySegment from, long offset, float[] to, int at) {
    float scale = half(from, offset + 52);
    digits(from, offset, 32, 5, scale, to, at);
    digits(from, offset + 32, 16, 5, scale, to, at + 160);
    digits(from, offset + 48, 4, 4, scale, to, at + 240);
  }

  private static void digits(
      MemorySegment from, long bytes, int count, int digits, float scale, float[] to, int at) {
    int power = 1;
    for (int digit = 0; digit < digits; digit++) {
      for (int i = 0; i < count; i++) {
        int rest = (unsigned(from, bytes + i) * power) & 0xFF;
        to[at + digit * count + i] = (((rest * 3) >> 8) - 1) * scale;
      }
      power *= 3;
    }
  }

  /** Layout: two runs of 32 bytes, each four runs of 32 pairs of bits; scale (f16). */
  static void tq2Zero(MemorySegment from, long offset, float[] to, int at) {
    float scale = half(from, offset + 64);
    for (int run = 0; run < 8; run++) {
      for (int i = 0; i < 32; i++) {
        int pair = (unsigned(from, offset + 32L * (run / 4) + i) >> (2 * (run % 4))) & 3;
        to[at + 32 * run + i] = (pair - 1) * scale;
      }
    }
  }
}
