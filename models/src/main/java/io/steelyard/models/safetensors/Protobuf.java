package io.steelyard.models.safetensors;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Reads the fields of a protocol buffer message one after the other; messages inside are messages
 * again. Nothing is copied but what is asked for.
 *
 * @see <a href="https://protobuf.dev/programming-guides/encoding/">the encoding</a>
 */
final class Protobuf {
  private static final int VARINT = 0;
  private static final int FIXED_64 = 1;
  private static final int BYTES = 2;
  private static final int FIXED_32 = 5;

  private final ByteBuffer in;
  private int field;
  private int kind;
  private ByteBuffer content = ByteBuffer.allocate(0);
  private long number;

  /** The bytes aren't a message. */
  static final class Malformed extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Malformed(String message) {
      super(message);
    }
  }

  Protobuf(ByteBuffer in) {
    this.in = in.slice().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Goes to the next field; false at the end. */
  boolean next() {
    if (!in.hasRemaining()) {
      return false;
    }
    long key = varint();
    field = (int) (key >>> 3);
    kind = (int) key & 7;
    switch (kind) {
      case VARINT -> number = varint();
      case FIXED_64 -> number = take(Long.BYTES).getLong();
      case FIXED_32 -> number = take(Integer.BYTES).getInt();
      case BYTES -> content = take(varint());
      default ->
          throw new Malformed(
              "byte %d begins a field of the unknown kind %d".formatted(in.position(), kind));
    }
    return true;
  }

  /** The number of the field. */
  int field() {
    return field;
  }

  /** Its value, a whole number. */
  long integer() {
    require(kind == VARINT);
    return number;
  }

  boolean flag() {
    return integer() != 0;
  }

  float real() {
    require(kind == FIXED_32);
    return Float.intBitsToFloat((int) number);
  }

  Protobuf message() {
    require(kind == BYTES);
    return new Protobuf(content);
  }

  byte[] bytes() {
    require(kind == BYTES);
    byte[] bytes = new byte[content.remaining()];
    content.get(content.position(), bytes);
    return bytes;
  }

  String text() {
    return new String(bytes(), StandardCharsets.UTF_8);
  }

  private void require(boolean fits) {
    if (!fits) {
      throw new Malformed("field %d is of another kind".formatted(field));
    }
  }

  private ByteBuffer take(long bytes) {
    if (bytes < 0 || bytes > in.remaining()) {
      throw new Malformed(
          "field %d needs %s bytes at byte %d, where %d are left"
              .formatted(field, Long.toUnsignedString(bytes), in.position(), in.remaining()));
    }
    ByteBuffer taken = in.slice(in.position(), (int) bytes).order(ByteOrder.LITTLE_ENDIAN);
    in.position(in.position() + (int) bytes);
    return taken;
  }

  private long varint() {
    long value = 0;
    for (int shift = 0; shift < Long.SIZE && in.hasRemaining(); shift += 7) {
      byte part = in.get();
      value |= (long) (part & 0x7F) << shift;
      if (part >= 0) {
        return value;
      }
    }
    throw new Malformed("the number at byte %d has no end".formatted(in.position()));
  }
}
