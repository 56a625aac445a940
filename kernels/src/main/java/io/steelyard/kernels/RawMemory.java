package io.steelyard.kernels;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Memory by address: for what machine code and Java share. */
final class RawMemory {
  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private static final byte[] ZEROS = new byte[4096];

  private RawMemory() {}

  static void putLong(long address, long value) {
    ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, address, value);
  }

  static void putInt(long address, int value) {
    ALL.set(ValueLayout.JAVA_INT_UNALIGNED, address, value);
  }

  static void putFloat(long address, float value) {
    ALL.set(ValueLayout.JAVA_FLOAT_UNALIGNED, address, value);
  }

  static float getFloat(long address) {
    return ALL.get(ValueLayout.JAVA_FLOAT_UNALIGNED, address);
  }

  static void putFloats(long address, float[] values, int count) {
    MemorySegment.copy(values, 0, ALL, ValueLayout.JAVA_FLOAT_UNALIGNED, address, count);
  }

  static void putLongs(long address, long[] values, int count) {
    MemorySegment.copy(values, 0, ALL, ValueLayout.JAVA_LONG_UNALIGNED, address, count);
  }

  static void putInts(long address, int[] values, int count) {
    MemorySegment.copy(values, 0, ALL, ValueLayout.JAVA_INT_UNALIGNED, address, count);
  }

  /** Sets bytes to zero; a slice to fill would be an object for every call. */
  static void clear(long address, long bytes) {
    for (long at = 0; at < bytes; at += ZEROS.length) {
      int count = (int) Math.min(ZEROS.length, bytes - at);
      MemorySegment.copy(ZEROS, 0, ALL, ValueLayout.JAVA_BYTE, address + at, count);
    }
  }

  static void copy(long from, long to, long bytes) {
    MemorySegment.copy(ALL, from, ALL, to, bytes);
  }
}
