package io.steelyard.kernels;

import io.steelyard.kernels.codec.Encoder;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Values of {@link StridedRows}, one at a time and rows of float32 rounded to them. */
final class HalfRows {
  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private HalfRows() {}

  static float get(DataType type, long row, int index) {
    return switch (type) {
      case F32 -> RawMemory.getFloat(row + 4L * index);
      case F16 -> Float.float16ToFloat(bits(row, index));
      default -> Float.intBitsToFloat(bits(row, index) << 16);
    };
  }

  private static short bits(long row, int index) {
    return ALL.get(ValueLayout.JAVA_SHORT_UNALIGNED, row + 2L * index);
  }

  static void put(DataType type, long row, int index, float value) {
    switch (type) {
      case F32 -> RawMemory.putFloat(row + 4L * index, value);
      case F16 -> putBits(row, index, Float.floatToFloat16(value));
      default -> putBits(row, index, Encoder.bfloat16(value));
    }
  }

  private static void putBits(long row, int index, short bits) {
    ALL.set(ValueLayout.JAVA_SHORT_UNALIGNED, row + 2L * index, bits);
  }

  /** Rounds float32 values to a row. */
  static void round(long from, DataType type, long row, int count) {
    for (int i = 0; i < count; i++) {
      put(type, row, i, RawMemory.getFloat(from + 4L * i));
    }
  }
}
