package io.steelyard.lab.worker;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JsonGenerator;

/**
 * Turns the protocol's records into JSON members and back. A component {@code flashAttention} is
 * the member {@code flash_attention}; every component must be there but those that are {@link
 * Optional}, members that no component asks for are ignored, and nothing is converted silently: a
 * fraction is no integer, and a number that does not fit its component is refused by name.
 */
final class RecordCodec {
  private static final ClassValue<Shape> SHAPES =
      new ClassValue<>() {
        @Override
        protected Shape computeValue(Class<?> type) {
          return Shape.of(type);
        }
      };

  private record Shape(RecordComponent[] components, String[] names, Constructor<?> constructor) {
    static Shape of(Class<?> type) {
      RecordComponent[] components = type.getRecordComponents();
      String[] names = new String[components.length];
      Class<?>[] types = new Class<?>[components.length];
      for (int i = 0; i < components.length; i++) {
        names[i] = wireName(components[i].getName());
        types[i] = components[i].getType();
      }
      try {
        return new Shape(components, names, type.getDeclaredConstructor(types));
      } catch (NoSuchMethodException e) {
        throw new IllegalStateException(type + " has no canonical constructor", e);
      }
    }
  }

  private RecordCodec() {}

  /** The member's name of a record component. */
  static String wireName(String component) {
    StringBuilder name = new StringBuilder(component.length() + 4);
    for (int i = 0; i < component.length(); i++) {
      char c = component.charAt(i);
      if (Character.isUpperCase(c)) {
        name.append('_');
      }
      name.append(Character.toLowerCase(c));
    }
    return name.toString();
  }

  /** Writes a record's components as members of the object that is open. */
  static void writeMembers(JsonGenerator out, Record record) {
    Shape shape = SHAPES.get(record.getClass());
    for (int i = 0; i < shape.names.length; i++) {
      Object value;
      try {
        value = shape.components[i].getAccessor().invoke(record);
      } catch (IllegalAccessException | InvocationTargetException e) {
        throw new IllegalStateException("can't read " + shape.components[i], e);
      }
      if (value instanceof Optional<?> optional) {
        if (optional.isEmpty()) {
          continue;
        }
        value = optional.get();
      }
      out.writeName(shape.names[i]);
      write(out, shape.names[i], value);
    }
  }

  private static void write(JsonGenerator out, String name, Object value) {
    switch (value) {
      case String text -> out.writeString(text);
      case Boolean flag -> out.writeBoolean(flag);
      case Integer number -> out.writeNumber((int) number);
      case Long number -> out.writeNumber((long) number);
      case Float number -> out.writeNumber((float) finite(name, number));
      case Double number -> out.writeNumber(finite(name, number));
      case int[] numbers -> out.writeArray(numbers, 0, numbers.length);
      case long[] numbers -> out.writeArray(numbers, 0, numbers.length);
      case float[] numbers -> {
        out.writeStartArray();
        for (float number : numbers) {
          out.writeNumber((float) finite(name, number));
        }
        out.writeEndArray();
      }
      case int[][] rows -> writeList(out, name, Arrays.asList(rows));
      case List<?> list -> writeList(out, name, list);
      case Map<?, ?> map -> {
        out.writeStartObject();
        for (Map.Entry<?, ?> entry : map.entrySet()) {
          out.writeName((String) entry.getKey());
          write(out, name, entry.getValue());
        }
        out.writeEndObject();
      }
      case Record record -> {
        out.writeStartObject();
        writeMembers(out, record);
        out.writeEndObject();
      }
      case null -> throw new IllegalStateException("the engine left '" + name + "' null");
      default -> throw new IllegalStateException("no wire form for " + value.getClass());
    }
  }

  private static void writeList(JsonGenerator out, String name, List<?> list) {
    out.writeStartArray();
    for (Object item : list) {
      write(out, name, item);
    }
    out.writeEndArray();
  }

  private static double finite(String name, double number) {
    if (!Double.isFinite(number)) {
      throw new IllegalStateException(
          "'" + name + "' holds " + number + ", which JSON has no number for");
    }
    return number;
  }

  /**
   * Reads a record from an object's members.
   *
   * @param where what the members belong to, for the messages: {@code decode}
   */
  static <R extends Record> R read(Class<R> type, Map<String, Object> members, String where)
      throws WireException {
    return type.cast(record(type, members, where));
  }

  private static Object record(Class<?> type, Map<?, ?> members, String where)
      throws WireException {
    Shape shape = SHAPES.get(type);
    Object[] values = new Object[shape.names.length];
    for (int i = 0; i < values.length; i++) {
      Object member = members.get(shape.names[i]);
      String path = where + "." + shape.names[i];
      if (shape.components[i].getType() == Optional.class) {
        Type held =
            ((ParameterizedType) shape.components[i].getGenericType()).getActualTypeArguments()[0];
        values[i] = member == null ? Optional.empty() : Optional.of(value(held, member, path));
        continue;
      }
      if (member == null) {
        throw new WireException("'" + path + "' is missing");
      }
      values[i] = value(shape.components[i].getGenericType(), member, path);
    }
    try {
      return shape.constructor.newInstance(values);
    } catch (InvocationTargetException e) {
      throw new WireException("'" + where + "' is refused: " + e.getCause().getMessage());
    } catch (InstantiationException | IllegalAccessException e) {
      throw new IllegalStateException("can't make a " + type, e);
    }
  }

  private static Object value(Type type, Object member, String path) throws WireException {
    if (type instanceof ParameterizedType generic) {
      Type[] arguments = generic.getActualTypeArguments();
      return generic.getRawType() == List.class
          ? list(arguments[0], member, path)
          : map(arguments[1], member, path);
    }
    if (type == String.class) {
      return expect(String.class, member, path, "text");
    }
    if (type == boolean.class) {
      return expect(Boolean.class, member, path, "true or false");
    }
    if (type == int.class || type == Integer.class) {
      return fit32(wholeNumber(member, path), path);
    }
    if (type == long.class || type == Long.class) {
      return wholeNumber(member, path);
    }
    if (type == float.class) {
      return fitFloat(expect(Number.class, member, path, "a number").doubleValue(), path);
    }
    if (type == double.class) {
      return expect(Number.class, member, path, "a number").doubleValue();
    }
    if (type == int[].class) {
      return ints(member, path);
    }
    if (type == long[].class) {
      return isEmpty(member) ? new long[0] : wholeNumbers(member, path);
    }
    if (type == float[].class) {
      return floats(member, path);
    }
    if (type == int[][].class) {
      List<?> rows = expect(List.class, member, path, "an array of arrays");
      int[][] result = new int[rows.size()][];
      for (int i = 0; i < result.length; i++) {
        result[i] = ints(rows.get(i), path + "[" + i + "]");
      }
      return result;
    }
    return record((Class<?>) type, expect(Map.class, member, path, "an object"), path);
  }

  private static List<Object> list(Type element, Object member, String path) throws WireException {
    List<?> items =
        member instanceof long[] numbers
            ? boxed(numbers)
            : expect(List.class, member, path, "an array");
    List<Object> result = new ArrayList<>(items.size());
    for (int i = 0; i < items.size(); i++) {
      result.add(value(element, items.get(i), path + "[" + i + "]"));
    }
    return List.copyOf(result);
  }

  private static Map<String, Object> map(Type element, Object member, String path)
      throws WireException {
    Map<String, Object> result = new LinkedHashMap<>();
    for (Map.Entry<?, ?> entry :
        ((Map<?, ?>) expect(Map.class, member, path, "an object")).entrySet()) {
      String key = (String) entry.getKey();
      result.put(key, value(element, entry.getValue(), path + "." + key));
    }
    return Collections.unmodifiableMap(result);
  }

  private static List<Long> boxed(long[] numbers) {
    return Arrays.stream(numbers).boxed().toList();
  }

  private static boolean isEmpty(Object member) {
    return member instanceof List<?> list && list.isEmpty();
  }

  private static int[] ints(Object member, String path) throws WireException {
    if (isEmpty(member)) {
      return new int[0];
    }
    long[] numbers = wholeNumbers(member, path);
    int[] result = new int[numbers.length];
    for (int i = 0; i < result.length; i++) {
      if ((int) numbers[i] != numbers[i]) {
        throw tooLarge(numbers[i], path + "[" + i + "]");
      }
      result[i] = (int) numbers[i];
    }
    return result;
  }

  private static float[] floats(Object member, String path) throws WireException {
    if (isEmpty(member)) {
      return new float[0];
    }
    double[] numbers =
        member instanceof long[] integers
            ? Arrays.stream(integers).asDoubleStream().toArray()
            : expect(double[].class, member, path, "an array of numbers");
    float[] result = new float[numbers.length];
    for (int i = 0; i < result.length; i++) {
      result[i] = fitFloat(numbers[i], path);
    }
    return result;
  }

  private static long[] wholeNumbers(Object member, String path) throws WireException {
    return expect(long[].class, member, path, "an array of whole numbers");
  }

  private static long wholeNumber(Object member, String path) throws WireException {
    return expect(Long.class, member, path, "a whole number");
  }

  private static int fit32(long number, String path) throws WireException {
    if ((int) number != number) {
      throw tooLarge(number, path);
    }
    return (int) number;
  }

  private static float fitFloat(double number, String path) throws WireException {
    float result = (float) number;
    if (!Float.isFinite(result)) {
      throw new WireException("'" + path + "' is " + number + ", too large for a float32");
    }
    return result;
  }

  private static WireException tooLarge(long number, String path) {
    return new WireException("'" + path + "' is " + number + ", which does not fit 32 bits");
  }

  private static <T> T expect(Class<T> type, Object member, String path, String what)
      throws WireException {
    if (!type.isInstance(member)) {
      throw new WireException("'" + path + "' must be " + what + ", not " + describe(member));
    }
    return type.cast(member);
  }

  private static String describe(Object member) {
    return switch (member) {
      case String text ->
          "the text '" + (text.length() > 40 ? text.substring(0, 40) + "…" : text) + "'";
      case Map<?, ?> map -> "an object of " + map.size();
      case List<?> list -> "an array of " + list.size();
      case long[] numbers -> "an array of " + numbers.length + " whole numbers";
      case double[] numbers -> "an array of " + numbers.length + " numbers";
      default -> String.valueOf(member).toLowerCase(Locale.ROOT);
    };
  }
}
