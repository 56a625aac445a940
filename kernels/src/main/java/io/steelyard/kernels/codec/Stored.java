package io.steelyard.kernels.codec;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Numbers as blocks hold them: little-endian, at any offset. */
final class Stored {
  static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfDouble DOUBLE =
      ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private Stored() {}

  static float half(MemorySegment from, long offset) {
    return Float.float16ToFloat(from.get(SHORT, offset));
  }

  static int signed(MemorySegment from, long offset) {
    return from.get(ValueLayout.JAVA_BYTE, offset);
  }

  static int unsigned(MemorySegment from, long offset) {
    return signed(from, offset) & 0xFF;
  }

  static int unsigned16(MemorySegment from, long offset) {
    return from.get(SHORT, offset) & 0xFFFF;
  }

  static int bits32(MemorySegment from, long offset) {
    return from.get(INT, offset);
  }

  /** One of the two nibbles of a byte: index 0 is the low one of the first byte. */
  static int nibble(MemorySegment from, long offset, int index) {
    return (unsigned(from, offset + index / 2) >> (4 * (index % 2))) & 0xF;
  }
}
