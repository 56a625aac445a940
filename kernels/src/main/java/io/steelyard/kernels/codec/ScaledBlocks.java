package io.steelyard.kernels.codec;

import static io.steelyard.kernels.codec.Stored.FLOAT;
import static io.steelyard.kernels.codec.Stored.signed;
import static io.steelyard.kernels.codec.Stored.unsigned;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * INT8_G32 to INT8_G128, FP4: a float32 scale that brings the largest magnitude to the largest
 * level, and the nearest levels; of equally near ones the even one.
 */
final class ScaledBlocks {
  private static final int LARGEST_BYTE = 127;
  private static final int FP4_SIZE = 64;

  private ScaledBlocks() {}

  /** Layout: scale (f32), {@code size} signed bytes. */
  static void decodeBytes(int size, MemorySegment from, long offset, float[] to, int at) {
    float scale = from.get(FLOAT, offset);
    for (int i = 0; i < size; i++) {
      to[at + i] = signed(from, offset + 4 + i) * scale;
    }
  }

  static void encodeBytes(int size, float[] values, int from, MemorySegment to, long offset) {
    float scale = Math.abs(Fit.extreme(values, from, size)) / LARGEST_BYTE;
    to.set(FLOAT, offset, scale);
    for (int i = 0; i < size; i++) {
      to.set(
          ValueLayout.JAVA_BYTE,
          offset + 4 + i,
          scale == 0 ? 0 : nearestByte(values[from + i] / scale));
    }
  }

  /** The nearest whole number from -127 to 127, of two the even one. */
  static byte nearestByte(float value) {
    return (byte) Math.clamp(Math.rint(value), -LARGEST_BYTE, LARGEST_BYTE);
  }

  /** Layout: scale (f32), 32 bytes of nibbles, the high one of the value with even index. */
  static void decodeFp4(MemorySegment from, long offset, float[] to, int at) {
    float scale = from.get(FLOAT, offset);
    for (int i = 0; i < FP4_SIZE; i += 2) {
      int pair = unsigned(from, offset + 4 + i / 2);
      to[at + i] = SmallFloat.E2M1.value(pair >> 4) * scale;
      to[at + i + 1] = SmallFloat.E2M1.value(pair & 0xF) * scale;
    }
  }

  static void encodeFp4(float[] values, int from, MemorySegment to, long offset) {
    float scale = Math.abs(Fit.extreme(values, from, FP4_SIZE)) / SmallFloat.E2M1.largest();
    to.set(FLOAT, offset, scale);
    for (int i = 0; i < FP4_SIZE; i += 2) {
      int high = scale == 0 ? 0 : SmallFloat.E2M1.bits(values[from + i] / scale);
      int low = scale == 0 ? 0 : SmallFloat.E2M1.bits(values[from + i + 1] / scale);
      to.set(ValueLayout.JAVA_BYTE, offset + 4 + i / 2, (byte) (high << 4 | low));
    }
  }
}
