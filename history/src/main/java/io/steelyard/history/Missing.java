package io.steelyard.history;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a record that was read from a file lacks: JSON may have {@code null} where no record of this
 * program has. Only a {@link Double} may be null, as a figure that could not be computed.
 */
final class Missing {
  private Missing() {}

  /**
   * The name of the first component that is null, such as {@code cells[3].label}; empty where none
   * is.
   *
   * @param value a record, a list or a map of records, or another value
   */
  static Optional<String> in(Object value) {
    List<String> path = new ArrayList<>();
    return isWhole(value, path)
        ? Optional.empty()
        : Optional.of(String.join("", path.reversed()).replaceFirst("^\\.", ""));
  }

  private static boolean isWhole(Object value, List<String> path) {
    return switch (value) {
      case null -> false;
      case Record fields -> ofRecord(fields, path);
      case List<?> elements -> ofList(elements, path);
      case Map<?, ?> entries -> ofMap(entries, path);
      case Optional<?> optional -> optional.isEmpty() || isWhole(optional.get(), path);
      default -> true;
    };
  }

  private static boolean ofRecord(Record fields, List<String> path) {
    for (RecordComponent component : fields.getClass().getRecordComponents()) {
      Object value = read(component, fields);
      boolean allowed = value == null && component.getType() == Double.class;
      if (!allowed && !isWhole(value, path)) {
        path.add("." + component.getName());
        return false;
      }
    }
    return true;
  }

  private static Object read(RecordComponent component, Record fields) {
    try {
      return component.getAccessor().invoke(fields);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("can't read " + component, e);
    }
  }

  private static boolean ofList(List<?> elements, List<String> path) {
    for (int i = 0; i < elements.size(); i++) {
      if (!isWhole(elements.get(i), path)) {
        path.add("[" + i + "]");
        return false;
      }
    }
    return true;
  }

  private static boolean ofMap(Map<?, ?> entries, List<String> path) {
    for (Map.Entry<?, ?> entry : entries.entrySet()) {
      if (!isWhole(entry.getValue(), path)) {
        path.add("." + entry.getKey());
        return false;
      }
    }
    return true;
  }
}
