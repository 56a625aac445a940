package io.steelyard.kernels.emulated;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** This process's memory by address. */
final class Memory {
  static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private Memory() {}

  static long getLong(long address) {
    return ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, address);
  }

  static void putLong(long address, long value) {
    ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, address, value);
  }

  static int getInt(long address) {
    return ALL.get(ValueLayout.JAVA_INT_UNALIGNED, address);
  }

  static void putInt(long address, int value) {
    ALL.set(ValueLayout.JAVA_INT_UNALIGNED, address, value);
  }

  static int getByte(long address) {
    return ALL.get(ValueLayout.JAVA_BYTE, address) & 0xFF;
  }

  static void putByte(long address, int value) {
    ALL.set(ValueLayout.JAVA_BYTE, address, (byte) value);
  }
}
