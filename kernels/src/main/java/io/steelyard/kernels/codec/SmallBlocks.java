package io.steelyard.kernels.codec;

import static io.steelyard.kernels.codec.Stored.bits32;
import static io.steelyard.kernels.codec.Stored.half;
import static io.steelyard.kernels.codec.Stored.signed;
import static io.steelyard.kernels.codec.Stored.unsigned;

import java.lang.foreign.MemorySegment;

/**
 * Q4_0 to Q8_1: blocks of 32 evenly spaced values with one scale and, in the types that end in 1, a
 * minimum. Of a byte of two values the low half is of the block's first 16.
 */
final class SmallBlocks {
  private static final int SIZE = 32;
  private static final int HALF = SIZE / 2;

  private SmallBlocks() {}

  /** Layout: scale (f16), 16 bytes of nibbles; 8 is zero. */
  static void q4Zero(MemorySegment from, long offset, float[] to, int at) {
    float scale = half(from, offset);
    for (int i = 0; i < HALF; i++) {
      int pair = unsigned(from, offset + 2 + i);
      to[at + i] = ((pair & 0xF) - 8) * scale;
      to[at + HALF + i] = ((pair >> 4) - 8) * scale;
    }
  }

  /** Layout: scale and minimum (f16), 16 bytes of nibbles. */
  static void q4One(MemorySegment from, long offset, float[] to, int at) {
    float scale = half(from, offset);
    float minimum = half(from, offset + 2);
    for (int i = 0; i < HALF; i++) {
      int pair = unsigned(from, offset + 4 + i);
      to[at + i] = (pair & 0xF) * scale + minimum;
      to[at + HALF + i] = (pair >> 4) * scale + minimum;
    }
  }

  /** Layout: scale (f16), 32 fifth bits, 16 bytes of nibbles; 16 is zero. */
  static void q5Zero(MemorySegment from, long offset, float[] to, int at) {
    float scale = half(from, offset);
    for (int i = 0; i < SIZE; i++) {
      to[at + i] = (fiveBits(from, offset + 2, i) - 16) * scale;
    }
  }

  /** Layout: scale and minimum (f16), 32 fifth bits, 16 bytes of nibbles. */
  static void q5One(MemorySegment from, long offset, float[] to, int at) {
    float scale = half(from, offset);
    float minimum = half(from, offset + 2);
    for (int i = 0; i < SIZE; i++) {
      to[at + i] = fiveBits(from, offset + 4, i) * scale + minimum;
    }
  }

  private static int fiveBits(MemorySegment from, long bits, int i) {
    int nibble = (unsigned(from, bits + 4 + i % HALF) >> (4 * (i / HALF))) & 0xF;
    return nibble | ((bits32(from, bits) >>> i) & 1) << 4;
  }

  /** Layout: scale (f16), 32 signed bytes. */
  static void q8Zero(MemorySegment from, long offset, float[] to, int at) {
    bytes(from, offset + 2, half(from, offset), to, at);
  }

  /**
   * Layout: scale (f16), the scaled sum of the bytes (f16), 32 signed bytes. Made for activations,
   * where the sum saves a product's other operand its minimum; as a weight it is as {@link
   * #q8Zero}.
   */
  static void q8One(MemorySegment from, long offset, float[] to, int at) {
    bytes(from, offset + 4, half(from, offset), to, at);
  }

  private static void bytes(MemorySegment from, long values, float scale, float[] to, int at) {
    for (int i = 0; i < SIZE; i++) {
      to[at + i] = signed(from, values + i) * scale;
    }
  }
}
