package io.steelyard.models.chat;

import io.steelyard.models.chat.Value.Fault;
import io.steelyard.models.chat.Value.Namespace;
import io.steelyard.models.chat.Value.None;
import io.steelyard.models.chat.Value.Tuple;
import io.steelyard.models.chat.Value.Undefined;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What Python does with values: truth, text, equality, order, items. */
final class Values {
  private static final int DEEPEST = 100;

  private Values() {}

  /** A caller's value as a template's: null becomes None, collections are copied. */
  static Object of(Object value) {
    return of(value, 0);
  }

  private static Object of(Object value, int depth) {
    limit(depth);
    return switch (value) {
      case null -> None.NONE;
      case Integer i -> i.longValue();
      case Short s -> s.longValue();
      case Byte b -> b.longValue();
      case Float f -> f.doubleValue();
      case Map<?, ?> map -> {
        Map<Object, Object> copy = new LinkedHashMap<>();
        map.forEach((key, item) -> copy.put(of(key, depth + 1), of(item, depth + 1)));
        yield copy;
      }
      case Iterable<?> items -> {
        List<Object> copy = new ArrayList<>();
        items.forEach(item -> copy.add(of(item, depth + 1)));
        yield copy;
      }
      case String s -> s;
      case Long l -> l;
      case Double d -> d;
      case Boolean b -> b;
      case Value v -> v;
      default ->
          throw new IllegalArgumentException(
              "a template can't use a value of " + value.getClass().getName());
    };
  }

  private static void limit(int depth) {
    if (depth > DEEPEST) {
      throw new Fault("a value is nested more than " + DEEPEST + " deep");
    }
  }

  static boolean truth(Object value) {
    return switch (value) {
      case Boolean b -> b;
      case Long l -> l != 0;
      case Double d -> d != 0;
      case String s -> !s.isEmpty();
      case List<?> list -> !list.isEmpty();
      case Map<?, ?> map -> !map.isEmpty();
      case None n -> false;
      case Undefined u -> false;
      default -> true;
    };
  }

  /** Python's name of a value's type. */
  static String type(Object value) {
    return switch (value) {
      case Boolean b -> "bool";
      case Long l -> "int";
      case Double d -> "float";
      case String s -> "str";
      case Tuple tuple -> "tuple";
      case List<?> list -> "list";
      case Map<?, ?> map -> "dict";
      case None n -> "NoneType";
      default -> value.getClass().getSimpleName();
    };
  }

  /** Fails for an undefined value, with its reason. */
  static Object defined(Object value) {
    if (value instanceof Undefined undefined) {
      throw new Fault(undefined.why());
    }
    return value;
  }

  static String string(Object value) {
    if (defined(value) instanceof String s) {
      return s;
    }
    throw new Fault("a text is needed where a value of type " + type(value) + " stands");
  }

  static long integer(Object value) {
    return switch (defined(value)) {
      case Long l -> l;
      case Boolean b -> b ? 1 : 0;
      default ->
          throw new Fault("an integer is needed where a value of type " + type(value) + " stands");
    };
  }

  static boolean isNumber(Object value) {
    return value instanceof Long || value instanceof Double || value instanceof Boolean;
  }

  /** Whether two numbers are worked with as floats. */
  static boolean areReal(Object left, Object right) {
    return left instanceof Double || right instanceof Double;
  }

  static double real(Object value) {
    return defined(value) instanceof Double d ? d : integer(value);
  }

  /** The value as it is printed. */
  static String text(Object value) {
    return switch (value) {
      case String s -> s;
      case Undefined u -> "";
      default -> {
        StringBuilder out = new StringBuilder();
        represent(value, out, 0);
        yield out.toString();
      }
    };
  }

  private static void represent(Object value, StringBuilder out, int depth) {
    limit(depth);
    if (out.length() > Budget.LONGEST) {
      throw new Fault("it makes a text longer than " + Budget.LONGEST);
    }
    switch (value) {
      case Boolean b -> out.append(b ? "True" : "False");
      case Long l -> out.append(l);
      case Double d -> out.append(shown(d));
      case None n -> out.append("None");
      case String s -> quote(s, out);
      case List<?> list -> {
        boolean tuple = list instanceof Tuple;
        out.append(tuple ? '(' : '[');
        String separator = "";
        for (Object item : list) {
          out.append(separator);
          represent(item, out, depth + 1);
          separator = ", ";
        }
        out.append(tuple ? (list.size() == 1 ? ",)" : ")") : "]");
      }
      case Map<?, ?> map -> {
        String separator = "{";
        for (Map.Entry<?, ?> entry : map.entrySet()) {
          out.append(separator);
          represent(entry.getKey(), out, depth + 1);
          out.append(": ");
          represent(entry.getValue(), out, depth + 1);
          separator = ", ";
        }
        out.append(map.isEmpty() ? "{}" : "}");
      }
      case Undefined u -> out.append("Undefined");
      default -> out.append('<').append(type(value)).append('>');
    }
  }

  /** A float as Python prints it. */
  static String shown(double value) {
    if (Double.isNaN(value)) {
      return "nan";
    }
    if (Double.isInfinite(value)) {
      return value > 0 ? "inf" : "-inf";
    }
    double size = Math.abs(value);
    if (size == 0 || (size >= 1e-4 && size < 1e16)) {
      String plain = new BigDecimal(Double.toString(value)).toPlainString();
      return value == 0 ? Double.toString(value) : plain.contains(".") ? plain : plain + ".0";
    }
    String[] parts = Double.toString(value).split("E", -1);
    String digits =
        parts[0].endsWith(".0") ? parts[0].substring(0, parts[0].length() - 2) : parts[0];
    int exponent = Integer.parseInt(parts[1]);
    String sign = exponent < 0 ? "-" : "+";
    return digits + "e" + sign + (Math.abs(exponent) < 10 ? "0" : "") + Math.abs(exponent);
  }

  private static void quote(String text, StringBuilder out) {
    char quote = text.indexOf('\'') >= 0 && text.indexOf('"') < 0 ? '"' : '\'';
    out.append(quote);
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        case '\\' -> out.append("\\\\");
        default -> {
          if (c == quote) {
            out.append('\\').append(c);
          } else if ((c < 0x20) || (c >= 0x7F && c < 0xA0)) {
            out.append("\\x%02x".formatted((int) c));
          } else {
            out.append(c);
          }
        }
      }
    }
    out.append(quote);
  }

  static boolean equal(Object left, Object right, Budget budget) {
    return equal(left, right, budget, 0);
  }

  private static boolean equal(Object left, Object right, Budget budget, int depth) {
    limit(depth);
    budget.step();
    if (isNumber(left) && isNumber(right)) {
      return areReal(left, right) ? real(left) == real(right) : integer(left) == integer(right);
    }
    if (left instanceof List<?> a && right instanceof List<?> b) {
      boolean same = a.size() == b.size();
      for (int i = 0; same && i < a.size(); i++) {
        same = equal(a.get(i), b.get(i), budget, depth + 1);
      }
      return same;
    }
    if (left instanceof Map<?, ?> a && right instanceof Map<?, ?> b) {
      boolean same = a.size() == b.size();
      for (var entries = a.entrySet().iterator(); same && entries.hasNext(); ) {
        var entry = entries.next();
        Object other = b.get(entry.getKey());
        same = other != null && equal(entry.getValue(), other, budget, depth + 1);
      }
      return same;
    }
    if (left instanceof String a && right instanceof String b) {
      budget.make(Math.min(a.length(), b.length()));
      return a.equals(b);
    }
    return (left instanceof Undefined && right instanceof Undefined)
        || (left instanceof None && right instanceof None);
  }

  /** Orders numbers, texts and lists; other values have no order. */
  static int compare(Object left, Object right, Budget budget) {
    return compare(left, right, budget, 0);
  }

  private static int compare(Object left, Object right, Budget budget, int depth) {
    limit(depth);
    budget.step();
    defined(left);
    defined(right);
    if (isNumber(left) && isNumber(right)) {
      return areReal(left, right)
          ? Double.compare(real(left), real(right))
          : Long.compare(integer(left), integer(right));
    }
    if (left instanceof String a && right instanceof String b) {
      budget.make(Math.min(a.length(), b.length()));
      return compareCodePoints(a, b);
    }
    if (left instanceof List<?> a && right instanceof List<?> b) {
      int order = 0;
      for (int i = 0; order == 0 && i < Math.min(a.size(), b.size()); i++) {
        order = compare(a.get(i), b.get(i), budget, depth + 1);
      }
      return order != 0 ? order : Integer.compare(a.size(), b.size());
    }
    throw new Fault("values of type " + type(left) + " and " + type(right) + " have no order");
  }

  private static int compareCodePoints(String a, String b) {
    int at = 0;
    while (at < a.length() && at < b.length() && a.charAt(at) == b.charAt(at)) {
      at++;
    }
    return at == a.length() || at == b.length()
        ? Integer.compare(a.length(), b.length())
        : Integer.compare(a.codePointAt(at), b.codePointAt(at));
  }

  /** The length in code points or items. */
  static long length(Object value, Budget budget) {
    return switch (value) {
      case String s -> budget.made(s).codePointCount(0, s.length());
      case List<?> list -> list.size();
      case Map<?, ?> map -> map.size();
      case Undefined u -> 0;
      default -> throw new Fault("a value of type " + type(value) + " has no length");
    };
  }

  /** What a loop over the value goes through. */
  static List<Object> items(Object value, Budget budget) {
    return switch (value) {
      case List<?> list -> listOf(list);
      case Map<?, ?> map -> {
        budget.makeItems(map.size());
        yield new ArrayList<>(map.keySet());
      }
      case String s -> {
        budget.makeItems(4L * s.length());
        yield new ArrayList<>(s.codePoints().mapToObj(Character::toString).toList());
      }
      case Undefined u -> List.of();
      case Namespace n -> throw new Fault("a namespace can't be gone through");
      default -> throw new Fault("a value of type " + type(value) + " can't be gone through");
    };
  }

  @SuppressWarnings("unchecked") // the lists of a template hold objects, and are read alone
  static List<Object> listOf(List<?> list) {
    return (List<Object>) list;
  }

  @SuppressWarnings("unchecked") // as above
  static Map<Object, Object> mapOf(Map<?, ?> map) {
    return (Map<Object, Object>) map;
  }

  static boolean contains(Object container, Object item, Budget budget) {
    return switch (container) {
      case Undefined u -> false;
      case String s -> budget.made(s).contains(string(item));
      case List<?> list -> list.stream().anyMatch(each -> equal(each, item, budget));
      case Map<?, ?> map -> map.containsKey(Access.key(item));
      default -> throw new Fault("a value of type " + type(container) + " contains nothing");
    };
  }
}
