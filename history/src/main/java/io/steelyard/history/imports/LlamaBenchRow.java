package io.steelyard.history.imports;

import io.steelyard.history.HistoryException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * One test of llama-bench, whatever the format it was written in.
 *
 * @param place the file and the place in it
 * @param fields by llama-bench's names; empty texts are left out
 * @param samples tokens a second of each repetition; empty in the formats that don't tell them
 */
record LlamaBenchRow(String place, Map<String, String> fields, double[] samples) {
  LlamaBenchRow {
    Map<String, String> filled = new LinkedHashMap<>();
    fields.forEach(
        (name, value) -> {
          if (!value.isEmpty()) {
            filled.put(name, value);
          }
        });
    fields = filled;
  }

  /** A row of the JSON formats. */
  static LlamaBenchRow of(JsonPlace object) {
    Map<String, String> fields = new LinkedHashMap<>();
    object
        .fields()
        .forEach(
            (name, value) -> {
              if (value.isNumber()) {
                value.number();
              }
              if (!value.isArray() && !value.isObject() && object.has(name)) {
                fields.put(Bounds.clean(object.place(), name), value.scalar());
              }
            });
    double[] samples = {};
    Optional<JsonPlace> rates = object.find("samples_ts").or(() -> object.find("samples"));
    if (rates.isPresent()) {
      samples =
          rates.get().elements(Bounds.VALUES).stream().mapToDouble(JsonPlace::amount).toArray();
    }
    // They say the same as the rates, yet a file that is wrong in them is wrong.
    object
        .find("samples_ns")
        .ifPresent(times -> times.elements(Bounds.VALUES).forEach(JsonPlace::amount));
    return new LlamaBenchRow(object.place(), fields, samples);
  }

  boolean has(String field) {
    return fields.containsKey(field);
  }

  Optional<String> text(String field) {
    return Optional.ofNullable(fields.get(field));
  }

  String textOr(String field, String otherwise) {
    return fields.getOrDefault(field, otherwise);
  }

  /** A field's number, not negative and finite; empty where there is none. */
  OptionalDouble amount(String field) {
    return has(field)
        ? OptionalDouble.of(amount(place + ", " + field, fields.get(field)))
        : OptionalDouble.empty();
  }

  /** A field's number, which must be there. */
  double required(String field) {
    return amount(field)
        .orElseThrow(() -> new HistoryException(place + ": it has no '" + field + "'"));
  }

  /** A field's count; 0 where there is none. */
  long count(String field) {
    double value = amount(field).orElse(0);
    if (value != Math.rint(value) || value > 1L << 50) {
      throw new HistoryException("%s, %s: %s is no count".formatted(place, field, value));
    }
    return (long) value;
  }

  /**
   * A number that is finite and not negative.
   *
   * @param place the file and the place in it
   */
  static double amount(String place, String text) {
    // Java's own reader takes letters and hexadecimal too.
    if (!text.matches("[+-]?(\\d{1,40}(\\.\\d{0,40})?|\\.\\d{1,40})([eE][+-]?\\d{1,4})?")) {
      String shown = text.length() > 40 ? text.substring(0, 40) + "…" : text;
      throw new HistoryException("%s: '%s' is no number".formatted(place, shown));
    }
    double value = Bounds.finite(place, Double.parseDouble(text));
    if (value < 0) {
      throw new HistoryException("%s: %s is negative".formatted(place, text));
    }
    return value;
  }
}
