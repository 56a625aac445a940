package io.steelyard.models.safetensors;

import io.steelyard.kernels.DataType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Types of tensor elements in safetensors files, by the names they have there. */
enum ElementType {
  BOOL(1),
  U8(1),
  I8(1),
  /** Eight bits: sign, four of exponent with bias 7, three of fraction; no infinity. */
  F8_E4M3(1),
  /** Eight bits: the upper half of a float16. */
  F8_E5M2(1),
  U16(2),
  I16(2),
  F16(2),
  BF16(2),
  U32(4),
  I32(4),
  F32(4),
  U64(8),
  I64(8),
  F64(8);

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfDouble DOUBLE =
      ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final int bytes;

  ElementType(int bytes) {
    this.bytes = bytes;
  }

  static Optional<ElementType> named(String name) {
    return Arrays.stream(values()).filter(type -> type.name().equals(name)).findFirst();
  }

  /** All names, for messages. */
  static List<String> names() {
    return Arrays.stream(values()).map(Enum::name).toList();
  }

  /** Bytes of one element. */
  int bytes() {
    return bytes;
  }

  /** The narrowest of GGUF's float types that holds such elements as they are used here. */
  DataType dataType() {
    return switch (this) {
      case F16 -> DataType.F16;
      // Eight bits of exponent and seven of fraction hold every value of both.
      case BF16, F8_E4M3, F8_E5M2 -> DataType.BF16;
      case BOOL, U8, I8, U16, I16, U32, I32, F32, U64, I64, F64 -> DataType.F32;
    };
  }

  /** Whether {@link #dataType} stores elements in the same bits. */
  boolean isDataType() {
    return this == F32 || this == F16 || this == BF16;
  }

  /**
   * Decodes elements to the nearest float32.
   *
   * @param from elements from byte 0 on
   * @param to receives {@code count} values
   */
  void decode(MemorySegment from, float[] to, int count) {
    if (this == F32) {
      MemorySegment.copy(from, FLOAT, 0, to, 0, count);
      return;
    }
    for (int i = 0; i < count; i++) {
      to[i] = value(from, (long) i * bytes);
    }
  }

  private float value(MemorySegment from, long at) {
    return switch (this) {
      case BOOL, U8 -> from.get(ValueLayout.JAVA_BYTE, at) & 0xFF;
      case I8 -> from.get(ValueLayout.JAVA_BYTE, at);
      case F8_E4M3 -> e4m3(from.get(ValueLayout.JAVA_BYTE, at));
      case F8_E5M2 ->
          Float.float16ToFloat((short) (from.get(ValueLayout.JAVA_BYTE, at) << Byte.SIZE));
      case U16 -> from.get(SHORT, at) & 0xFFFF;
      case I16 -> from.get(SHORT, at);
      case F16 -> Float.float16ToFloat(from.get(SHORT, at));
      case BF16 -> Float.intBitsToFloat(from.get(SHORT, at) << Short.SIZE);
      case U32 -> Integer.toUnsignedLong(from.get(INT, at));
      case I32 -> from.get(INT, at);
      case F32 -> from.get(FLOAT, at);
      case U64 -> unsigned(from.get(LONG, at));
      case I64 -> from.get(LONG, at);
      case F64 -> (float) from.get(DOUBLE, at);
    };
  }

  private static float e4m3(byte bits) {
    int exponent = (bits >> 3) & 0xF;
    int fraction = bits & 7;
    float magnitude;
    if ((bits & 0x7F) == 0x7F) {
      magnitude = Float.NaN;
    } else if (exponent == 0) {
      magnitude = Math.scalb(fraction, -9);
    } else {
      magnitude = Math.scalb(8 + fraction, exponent - 10);
    }
    return bits < 0 ? -magnitude : magnitude;
  }

  private static float unsigned(long value) {
    // Halved with the lost bit kept, which rounds as the whole would.
    return value >= 0 ? value : 2f * ((value >>> 1) | (value & 1));
  }
}
