package io.steelyard.kernels;

import io.steelyard.kernels.codec.Encoder;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Rows at equal distances in memory, one head's queries, keys, values or results. What it points to
 * is not checked: whoever makes one has.
 *
 * @param address of the first row's first value
 * @param stride bytes from a row's beginning to the next's
 * @param type {@link DataType#F32}, {@link DataType#F16} or {@link DataType#BF16}
 */
public record StridedRows(long address, long stride, DataType type) {
  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  /** Where a row begins. */
  public long row(long index) {
    return address + index * stride;
  }

  /** The same rows from one of them on. */
  public StridedRows from(long index) {
    return new StridedRows(row(index), stride, type);
  }

  /** One value of a row. */
  public float get(long index, int value) {
    long row = row(index);
    return switch (type) {
      case F32 -> RawMemory.getFloat(row + 4L * value);
      case F16 -> Float.float16ToFloat(bits(row, value));
      default -> Float.intBitsToFloat(bits(row, value) << 16);
    };
  }

  private static short bits(long row, int index) {
    return ALL.get(ValueLayout.JAVA_SHORT_UNALIGNED, row + 2L * index);
  }

  /** Writes one value of a row, rounded to nearest. */
  public void put(long index, int value, float to) {
    long row = row(index);
    switch (type) {
      case F32 -> RawMemory.putFloat(row + 4L * value, to);
      case F16 -> putBits(row, value, Float.floatToFloat16(to));
      default -> putBits(row, value, Encoder.bfloat16(to));
    }
  }

  private static void putBits(long row, int index, short bits) {
    ALL.set(ValueLayout.JAVA_SHORT_UNALIGNED, row + 2L * index, bits);
  }

  /** Writes a row. */
  public void put(long index, float[] values) {
    for (int i = 0; i < values.length; i++) {
      put(index, i, values[i]);
    }
  }

  /** Writes a row, rounded from float32 values at an address. */
  public void round(long from, long index, int count) {
    for (int i = 0; i < count; i++) {
      put(index, i, RawMemory.getFloat(from + 4L * i));
    }
  }
}
