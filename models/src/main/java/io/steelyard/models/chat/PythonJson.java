package io.steelyard.models.chat;

import io.steelyard.models.chat.Value.Fault;
import io.steelyard.models.chat.Value.None;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** JSON as Python's {@code json.dumps} writes it, to the blank. */
final class PythonJson {
  private static final int DEEPEST = 100;

  private final StringBuilder out = new StringBuilder();
  private final boolean ascii;
  private final String indent;
  private final boolean indented;
  private final boolean sorted;
  private final String comma;
  private final String colon;

  private PythonJson(Value.Given given) {
    ascii = given.flag(0, "ensure_ascii", false);
    Object step = given.at(1, "indent", None.NONE);
    indented = step != None.NONE;
    indent = step instanceof String s ? s : indented ? " ".repeat((int) indentOf(step)) : "";
    Object separators = given.at(2, "separators", None.NONE);
    boolean separated = separators instanceof List<?> l && l.size() == 2;
    comma = separated ? Values.string(((List<?>) separators).get(0)) : indented ? "," : ", ";
    colon = separated ? Values.string(((List<?>) separators).get(1)) : ": ";
    sorted = given.flag(3, "sort_keys", false);
  }

  private static long indentOf(Object step) {
    return Math.clamp(Values.integer(step), 0, 100);
  }

  /** Writes a value with the arguments of the {@code tojson} filter. */
  static String write(Object value, Value.Given given) {
    PythonJson json = new PythonJson(given);
    json.value(value, 0);
    return json.out.toString();
  }

  private void value(Object value, int depth) {
    if (depth > DEEPEST || out.length() > Budget.LONGEST) {
      throw new Fault("a value is too deep or too long for JSON");
    }
    switch (Values.defined(value)) {
      case None n -> out.append("null");
      case Boolean b -> out.append(b);
      case Long l -> out.append(l);
      case Double d -> out.append(real(d));
      case String s -> string(s);
      case List<?> list -> {
        out.append('[');
        String separator = "";
        for (Object item : list) {
          out.append(separator);
          line(depth + 1);
          value(item, depth + 1);
          separator = comma;
        }
        if (!list.isEmpty()) {
          line(depth);
        }
        out.append(']');
      }
      case Map<?, ?> map -> object(map, depth);
      default -> throw new Fault("a value of type " + Values.type(value) + " has no JSON form");
    }
  }

  private void object(Map<?, ?> map, int depth) {
    List<? extends Map.Entry<?, ?>> entries = List.copyOf(map.entrySet());
    if (sorted) {
      entries = entries.stream().sorted(Comparator.comparing(e -> key(e.getKey()))).toList();
    }
    out.append('{');
    String separator = "";
    for (Map.Entry<?, ?> entry : entries) {
      out.append(separator);
      line(depth + 1);
      string(key(entry.getKey()));
      out.append(colon);
      value(entry.getValue(), depth + 1);
      separator = comma;
    }
    if (!map.isEmpty()) {
      line(depth);
    }
    out.append('}');
  }

  private static String key(Object key) {
    return switch (key) {
      case String s -> s;
      case Boolean b -> b.toString();
      case Long l -> l.toString();
      case Double d -> real(d);
      case None n -> "null";
      default -> throw new Fault("a key of type " + Values.type(key) + " has no JSON form");
    };
  }

  private static String real(double value) {
    return Double.isNaN(value)
        ? "NaN"
        : Double.isInfinite(value) ? (value > 0 ? "Infinity" : "-Infinity") : Values.shown(value);
  }

  private void line(int depth) {
    if (indented) {
      out.append('\n').repeat(indent, depth);
    }
  }

  private void string(String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        case '\b' -> out.append("\\b");
        case '\f' -> out.append("\\f");
        default -> {
          if (c < 0x20 || (ascii && c > 0x7E)) {
            out.append("\\u%04x".formatted((int) c));
          } else {
            out.append(c);
          }
        }
      }
    }
    out.append('"');
  }
}
