package io.steelyard.models.gguf;

import io.steelyard.models.ModelException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The key-value part of a model file. Values are read by the type that the caller needs: integers
 * of every width as {@code long}, {@code float32} as {@code double}. It stays valid after its file
 * is closed.
 *
 * <p>Every getter without a fallback throws {@link ModelException} for a missing key, and every
 * getter throws it for a value of another type; the message names file and key.
 */
public final class Metadata {
  private final String source;
  private final Map<String, Value> values;

  /**
   * Metadata made in memory.
   *
   * @param source what messages call it, usually a path
   * @param values by key, in order: {@code Integer} (written as {@code uint32}, or {@code int32} if
   *     negative), {@code Long} ({@code uint64} or {@code int64}), {@code Byte}, {@code Short},
   *     {@code Float}, {@code Double}, {@code Boolean}, {@code String}, {@code byte[]} (an array of
   *     {@code uint8}), {@code int[]}, {@code float[]} or a {@code List} of strings
   * @throws IllegalArgumentException for a value of another class
   */
  public Metadata(String source, Map<String, ?> values) {
    this.source = source;
    Map<String, Value> copy = LinkedHashMap.newLinkedHashMap(values.size());
    values.forEach((key, value) -> copy.put(key, Value.of(value)));
    this.values = Collections.unmodifiableMap(copy);
  }

  /** The same with some values added or replaced, as {@link #Metadata} takes them. */
  public Metadata with(Map<String, ?> others) {
    Map<String, Value> all = new LinkedHashMap<>(values);
    others.forEach((key, value) -> all.put(key, Value.of(value)));
    return new Metadata(source, all);
  }

  /** The same without some keys. */
  public Metadata without(Set<String> keys) {
    Map<String, Value> rest = new LinkedHashMap<>(values);
    rest.keySet().removeAll(keys);
    return new Metadata(source, rest);
  }

  /** What is wrong with this model, in a message that names its file. */
  public ModelException fault(String what) {
    return new ModelException(source + ": " + what);
  }

  /** Whether the key is there, with whatever value. */
  public boolean has(String key) {
    return values.containsKey(key);
  }

  /** All keys in the order of the file. */
  public Set<String> keys() {
    return values.keySet();
  }

  /** The type that the file gives a value. */
  public ValueType type(String key) {
    return require(key).type();
  }

  /** A string. */
  public String string(String key) {
    return as(String.class, "a string", key, require(key));
  }

  /** A string, or the fallback if the key is missing. */
  public String string(String key, String fallback) {
    return has(key) ? string(key) : fallback;
  }

  /** An integer of any width. */
  public long integer(String key) {
    Value value = require(key);
    long integer = as(Long.class, "an integer", key, value);
    if (value.type() == ValueType.UINT64 && integer < 0) {
      throw new ModelException(
          "%s: metadata key '%s' is %s, beyond the largest integer that Steelyard handles"
              .formatted(source, key, Long.toUnsignedString(integer)));
    }
    return integer;
  }

  /** An integer of any width, or the fallback if the key is missing. */
  public long integer(String key, long fallback) {
    return has(key) ? integer(key) : fallback;
  }

  /** A number; integers are converted. */
  public double real(String key) {
    Value value = require(key);
    return as(Number.class, "a number", key, value).doubleValue();
  }

  /** A number, or the fallback if the key is missing; integers are converted. */
  public double real(String key, double fallback) {
    return has(key) ? real(key) : fallback;
  }

  /** A boolean, or the fallback if the key is missing. */
  public boolean flag(String key, boolean fallback) {
    return has(key) ? as(Boolean.class, "a boolean", key, require(key)) : fallback;
  }

  /** An array of strings, decoded on each call. Bytes that are no UTF-8 become U+FFFD. */
  public List<String> strings(String key) {
    Elements elements = elements(key, "an array of strings");
    if (elements.count() == 0) {
      return List.of();
    }
    if (elements.type() != ValueType.STRING) {
      throw mistyped(key, "an array of strings", require(key));
    }
    return elements.strings();
  }

  /** An array of integers of any width, each of which fits an {@code int}. */
  public int[] ints(String key) {
    Elements elements = elements(key, "an array of integers");
    if (elements.count() == 0) {
      return new int[0];
    }
    if (!elements.type().integral()) {
      throw mistyped(key, "an array of integers", require(key));
    }
    long[] wide = elements.integers();
    int[] ints = new int[wide.length];
    for (int i = 0; i < ints.length; i++) {
      ints[i] = (int) wide[i];
      if (ints[i] != wide[i]) {
        throw new ModelException(
            "%s: element %d of metadata key '%s' is %d, beyond 32 bits"
                .formatted(source, i, key, wide[i]));
      }
    }
    return ints;
  }

  /** An array of {@code float32} or {@code float64}. */
  public float[] floats(String key) {
    Elements elements = elements(key, "an array of floats");
    if (elements.count() == 0) {
      return new float[0];
    }
    if (elements.type() != ValueType.FLOAT32 && elements.type() != ValueType.FLOAT64) {
      throw mistyped(key, "an array of floats", require(key));
    }
    return elements.floats();
  }

  /**
   * A value as a Java object, for inspection: {@code Long}, {@code Float}, {@code Double}, {@code
   * Boolean}, {@code String}, or a {@code List} of these. A {@code uint64} above 2^63 - 1 is
   * negative here.
   */
  public Object raw(String key) {
    return require(key).raw();
  }

  /** Number of elements of an array, without decoding it. */
  public int length(String key) {
    return elements(key, "an array").count();
  }

  /** Values with their exact types, for the writer. */
  Map<String, Value> values() {
    return values;
  }

  private Value require(String key) {
    Value value = values.get(key);
    if (value == null) {
      throw new ModelException("%s: metadata key '%s' is missing".formatted(source, key));
    }
    return value;
  }

  private Elements elements(String key, String wanted) {
    return as(Elements.class, wanted, key, require(key));
  }

  private <T> T as(Class<T> content, String wanted, String key, Value value) {
    if (!content.isInstance(value.content())) {
      throw mistyped(key, wanted, value);
    }
    return content.cast(value.content());
  }

  private ModelException mistyped(String key, String wanted, Value value) {
    String found =
        value.content() instanceof Elements elements
            ? "an array of " + elements.type().label()
            : "of type " + value.type().label();
    return new ModelException(
        "%s: metadata key '%s' is %s where %s is needed".formatted(source, key, found, wanted));
  }
}
