package io.steelyard.models.gguf;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * An array of metadata as it lies in the file, decoded when somebody asks. A vocabulary of several
 * hundred thousand strings costs one copy at opening, and nothing more if it isn't used.
 *
 * @param type type of the elements
 * @param count number of elements
 * @param bytes the elements, already checked: decoding them can't run past the end
 */
record Elements(ValueType type, int count, byte[] bytes) {

  List<String> strings() {
    ByteBuffer in = buffer();
    List<String> strings = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      strings.add(string(in));
    }
    return Collections.unmodifiableList(strings);
  }

  /** Integral elements, sign- or zero-extended; {@code uint64} above 2^63 - 1 come out negative. */
  long[] integers() {
    ByteBuffer in = buffer();
    long[] values = new long[count];
    for (int i = 0; i < count; i++) {
      values[i] = integer(type, in);
    }
    return values;
  }

  float[] floats() {
    ByteBuffer in = buffer();
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = type == ValueType.FLOAT32 ? in.getFloat() : (float) in.getDouble();
    }
    return values;
  }

  /** Elements as Java objects, nested arrays as nested lists. */
  List<Object> objects() {
    return objects(type, count, buffer());
  }

  private ByteBuffer buffer() {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private List<Object> objects(ValueType type, int count, ByteBuffer in) {
    List<Object> values = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      values.add(object(type, in));
    }
    return Collections.unmodifiableList(values);
  }

  private Object object(ValueType type, ByteBuffer in) {
    return switch (type) {
      case STRING -> string(in);
      case ARRAY -> {
        ValueType inner = ValueType.ofId(in.getInt()).orElseThrow();
        yield objects(inner, (int) in.getLong(), in);
      }
      case FLOAT32 -> in.getFloat();
      case FLOAT64 -> in.getDouble();
      case BOOL -> in.get() != 0;
      case UINT8, INT8, UINT16, INT16, UINT32, INT32, UINT64, INT64 -> integer(type, in);
    };
  }

  /** Malformed UTF-8 becomes U+FFFD: some vocabularies in use hold cut sequences. */
  private String string(ByteBuffer in) {
    int length = (int) in.getLong();
    int start = in.position();
    in.position(start + length);
    return new String(bytes, start, length, StandardCharsets.UTF_8);
  }

  static long integer(ValueType type, ByteBuffer in) {
    return switch (type) {
      case UINT8 -> Byte.toUnsignedLong(in.get());
      case INT8 -> in.get();
      case UINT16 -> Short.toUnsignedLong(in.getShort());
      case INT16 -> in.getShort();
      case UINT32 -> Integer.toUnsignedLong(in.getInt());
      case INT32 -> in.getInt();
      case UINT64, INT64 -> in.getLong();
      case FLOAT32, FLOAT64, BOOL, STRING, ARRAY ->
          throw new IllegalArgumentException(type + " is no integer type");
    };
  }
}
