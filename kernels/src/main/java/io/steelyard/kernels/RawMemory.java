package io.steelyard.kernels;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Memory by address: for what machine code and Java share. */
final class RawMemory {
  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

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

  static void clear(long address, long bytes) {
    if (bytes > 0) {
      ALL.asSlice(address, bytes).fill((byte) 0);
    }
  }

  static void copy(long from, long to, long bytes) {
    MemorySegment.copy(ALL, from, ALL, to, bytes);
  }
}
