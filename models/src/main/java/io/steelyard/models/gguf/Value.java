package io.steelyard.models.gguf;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * One metadata value with the exact type that its file gives it.
 *
 * @param type its type
 * @param content {@code Long} for every integer type, {@code Float}, {@code Double}, {@code
 *     Boolean}, {@code String} or {@link Elements}
 */
record Value(ValueType type, Object content) {

  /** What {@link Metadata#raw} shows. */
  Object raw() {
    return content instanceof Elements elements ? elements.objects() : content;
  }

  /**
   * The value that stands for a Java object in a new file. Loaders are strict about integer types
   * and expect {@code uint32} for nearly every size, so an {@code Integer} becomes that unless it
   * is negative.
   *
   * @throws IllegalArgumentException if no GGUF type corresponds
   */
  static Value of(Object object) {
    return switch (object) {
      case Value value -> value;
      case Byte b -> new Value(ValueType.INT8, (long) b);
      case Short s -> new Value(ValueType.INT16, (long) s);
      case Integer i -> new Value(i < 0 ? ValueType.INT32 : ValueType.UINT32, (long) i);
      case Long l -> new Value(l < 0 ? ValueType.INT64 : ValueType.UINT64, l);
      case Float f -> new Value(ValueType.FLOAT32, f);
      case Double d -> new Value(ValueType.FLOAT64, d);
      case Boolean b -> new Value(ValueType.BOOL, b);
      case String s -> new Value(ValueType.STRING, s);
      case byte[] bytes -> array(new Elements(ValueType.UINT8, bytes.length, bytes.clone()));
      case int[] ints -> array(ofInts(ints));
      case float[] floats -> array(ofFloats(floats));
      case List<?> strings -> array(ofStrings(strings));
      default ->
          throw new IllegalArgumentException(
              "no GGUF type corresponds to " + object.getClass().getName());
    };
  }

  private static Value array(Elements elements) {
    return new Value(ValueType.ARRAY, elements);
  }

  private static Elements ofInts(int[] ints) {
    byte[] bytes = new byte[Math.multiplyExact(4, ints.length)];
    little(bytes).asIntBuffer().put(ints);
    return new Elements(ValueType.INT32, ints.length, bytes);
  }

  private static Elements ofFloats(float[] floats) {
    byte[] bytes = new byte[Math.multiplyExact(4, floats.length)];
    little(bytes).asFloatBuffer().put(floats);
    return new Elements(ValueType.FLOAT32, floats.length, bytes);
  }

  private static Elements ofStrings(List<?> strings) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    byte[] length = new byte[8];
    for (Object element : strings) {
      if (!(element instanceof String string)) {
        throw new IllegalArgumentException("a list holds " + element + " where GGUF has strings");
      }
      byte[] bytes = string.getBytes(StandardCharsets.UTF_8);
      little(length).putLong(bytes.length);
      out.writeBytes(length);
      out.writeBytes(bytes);
    }
    return new Elements(ValueType.STRING, strings.size(), out.toByteArray());
  }

  private static ByteBuffer little(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
