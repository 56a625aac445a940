package io.steelyard.models.chat;

import io.steelyard.models.chat.Value.Fault;
import io.steelyard.models.chat.Value.Given;
import io.steelyard.models.chat.Value.None;
import io.steelyard.models.chat.Value.Undefined;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;

/** What stands after a bar. */
final class Filters {
  private Filters() {}

  static Object apply(String name, Object value, Given given, Budget budget) {
    return switch (name) {
      case "trim" -> Methods.call(Values.text(value), "strip", given, budget);
      case "upper", "lower", "title", "capitalize" ->
          Methods.call(Values.text(value), name, Given.NOTHING, budget);
      case "replace" -> Methods.call(Values.text(value), name, texts(given), budget);
      case "string", "safe" -> budget.made(Values.text(value));
      case "length", "count" -> Values.length(value, budget);
      case "join" -> join(value, given, budget);
      case "default", "d" ->
          value instanceof Undefined || (given.flag(1, "boolean", false) && !Values.truth(value))
              ? given.at(0, "default_value", "")
              : value;
      case "tojson" -> budget.made(PythonJson.write(value, given));
      case "first", "last" -> end(value, name.equals("first"), budget);
      case "list" -> copy(Values.items(value, budget), budget);
      case "items" -> value instanceof Undefined ? List.of() : Methods.items(value, budget);
      case "dictsort" -> dictsort(value, given, budget);
      case "map" -> map(value, given, budget);
      case "select", "reject" ->
          filter(value, budget, item -> test(item, given, 0, budget) == name.equals("select"));
      case "selectattr", "rejectattr" ->
          filter(
              value,
              budget,
              item ->
                  test(path(item, given.string(0, "attribute"), budget), given, 1, budget)
                      == name.equals("selectattr"));
      case "int" -> integer(value, given);
      case "float" -> real(value, given);
      case "abs" ->
          value instanceof Double d
              ? (Object) Math.abs(d)
              : (Object) Math.absExact(Values.integer(value));
      case "round" -> round(Values.real(value), given);
      case "sum" -> sum(value, given, budget);
      case "min" -> extreme(value, Comparator.naturalOrder(), budget);
      case "max" -> extreme(value, Comparator.reverseOrder(), budget);
      case "indent" -> indent(Values.string(value), given, budget);
      case "sort" -> sort(value, given, budget);
      case "unique" -> unique(value, given, budget);
      case "reverse" ->
          value instanceof String s
              ? budget.made(new StringBuilder(s).reverse().toString())
              : copy(Values.items(value, budget), budget).reversed();
      default -> throw new Fault("the filter '" + name + "' is not supported");
    };
  }

  private static Given texts(Given given) {
    List<Object> texts = new ArrayList<>(given.positional());
    for (int i = 0; i < Math.min(2, texts.size()); i++) {
      texts.set(i, Values.text(texts.get(i)));
    }
    return new Given(texts, given.named());
  }

  private static List<Object> copy(List<Object> items, Budget budget) {
    budget.makeItems(items.size());
    return new ArrayList<>(items);
  }

  private static String join(Object value, Given given, Budget budget) {
    String separator = Values.text(given.at(0, "d", ""));
    StringBuilder joined = new StringBuilder();
    boolean first = true;
    for (Object item : Values.items(value, budget)) {
      Object part =
          given.at(1, "attribute").map(a -> path(item, Values.string(a), budget)).orElse(item);
      String text = Values.text(part);
      budget.make(text.length() + separator.length());
      joined.append(first ? "" : separator).append(text);
      limit(joined);
      first = false;
    }
    return joined.toString();
  }

  private static void limit(CharSequence made) {
    if (made.length() > Budget.LONGEST) {
      throw new Fault("it makes a text longer than " + Budget.LONGEST);
    }
  }

  private static Object end(Object value, boolean first, Budget budget) {
    List<Object> items = Values.items(value, budget);
    return items.isEmpty()
        ? new Undefined("No " + (first ? "first" : "last") + " item, sequence was empty.")
        : first ? items.getFirst() : items.getLast();
  }

  /** An attribute, or attributes of attributes: {@code a.b.0}. */
  static Object path(Object value, String path, Budget budget) {
    budget.make(path.length());
    Object found = value;
    for (String name : path.split("\\.", -1)) {
      boolean index = !name.isEmpty() && name.chars().allMatch(Character::isDigit);
      found = Access.item(found, index && name.length() < 10 ? Long.valueOf(name) : name, budget);
    }
    return found;
  }

  private static boolean test(Object value, Given given, int at, Budget budget) {
    if (given.at(at, "test").isEmpty()) {
      return Values.truth(value);
    }
    return Tests.holds(given.string(at, "test"), value, given.without(at + 1), budget);
  }

  /** These filters alone take None, false and 0 for an empty list. */
  private static List<Object> itemsIfAny(Object value, Budget budget) {
    return Values.truth(value) ? Values.items(value, budget) : List.of();
  }

  private static List<Object> filter(Object value, Budget budget, Predicate<Object> keep) {
    List<Object> kept = new ArrayList<>();
    for (Object item : itemsIfAny(value, budget)) {
      budget.step();
      if (keep.test(item)) {
        kept.add(item);
      }
    }
    return kept;
  }

  private static List<Object> map(Object value, Given given, Budget budget) {
    List<Object> mapped = new ArrayList<>();
    Object attribute = given.named("attribute").orElse(None.NONE);
    for (Object item : itemsIfAny(value, budget)) {
      budget.step();
      if (attribute == None.NONE) {
        mapped.add(apply(given.string(0, "filter"), item, given.without(1), budget));
      } else {
        Object found = path(item, Values.text(attribute), budget);
        mapped.add(found instanceof Undefined ? given.named("default").orElse(found) : found);
      }
    }
    return mapped;
  }

  private static List<Object> dictsort(Object value, Given given, Budget budget) {
    boolean byValue = given.at(1, "by", "key").equals("value");
    Given rest =
        new Given(
            List.of(given.flag(2, "reverse", false), given.flag(0, "case_sensitive", false)),
            Map.of("attribute", byValue ? 1L : 0L));
    return sort(Methods.items(value, budget), rest, budget);
  }

  private static Object key(Object item, Given given, boolean caseSensitive, Budget budget) {
    Object key = given.named("attribute").map(a -> path(item, Values.text(a), budget)).orElse(item);
    return key instanceof String s && !caseSensitive
        ? budget.made(s).toLowerCase(Locale.ROOT)
        : key;
  }

  private static List<Object> sort(Object value, Given given, Budget budget) {
    boolean caseSensitive = given.flag(1, "case_sensitive", false);
    Comparator<Object> order =
        (a, b) -> {
          budget.step();
          return Values.compare(
              key(a, given, caseSensitive, budget), key(b, given, caseSensitive, budget), budget);
        };
    List<Object> sorted = copy(Values.items(value, budget), budget);
    sorted.sort(given.flag(0, "reverse", false) ? order.reversed() : order);
    return sorted;
  }

  private static List<Object> unique(Object value, Given given, Budget budget) {
    Map<Object, Object> firsts = new LinkedHashMap<>();
    for (Object item : Values.items(value, budget)) {
      budget.step();
      firsts.putIfAbsent(
          Access.key(key(item, given, given.flag(0, "case_sensitive", false), budget)), item);
    }
    return new ArrayList<>(firsts.values());
  }

  private static Object sum(Object value, Given given, Budget budget) {
    Object sum = given.at(1, "start", 0L);
    for (Object item : Values.items(value, budget)) {
      Object part =
          given.at(0, "attribute").map(a -> path(item, Values.text(a), budget)).orElse(item);
      sum = Arithmetic.apply("+", sum, part, budget);
    }
    return sum;
  }

  private static Object extreme(Object value, Comparator<Integer> direction, Budget budget) {
    Object best = new Undefined("No aggregated item, sequence was empty.");
    for (Object item : Values.items(value, budget)) {
      budget.step();
      if (best instanceof Undefined
          || direction.compare(Values.compare(item, best, budget), 0) < 0) {
        best = item;
      }
    }
    return best;
  }

  private static Object integer(Object value, Given given) {
    Object fallback = given.at(0, "default", 0L);
    return switch (value) {
      case Long l -> l;
      case Boolean b -> b ? 1L : 0L;
      case Double d -> (long) (double) d;
      case String s -> {
        try {
          String digits = s.strip();
          yield digits.contains(".") || digits.contains("e")
              ? (Object) (long) Double.parseDouble(digits)
              : (Object) Long.parseLong(digits, (int) given.integer(1, "base", 10));
        } catch (NumberFormatException e) {
          yield fallback;
        }
      }
      default -> fallback;
    };
  }

  private static Object real(Object value, Given given) {
    try {
      return value instanceof String s ? (Object) Double.valueOf(s.strip()) : Values.real(value);
    } catch (NumberFormatException | Fault e) {
      return given.at(0, "default", 0.0);
    }
  }

  private static double round(double value, Given given) {
    RoundingMode mode =
        switch (Values.string(given.at(1, "method", "common"))) {
          case "ceil" -> RoundingMode.CEILING;
          case "floor" -> RoundingMode.FLOOR;
          default -> RoundingMode.HALF_EVEN;
        };
    int digits = Math.clamp(given.integer(0, "precision", 0), -400, 400);
    return Double.isFinite(value)
        ? new BigDecimal(value).setScale(digits, mode).doubleValue()
        : value;
  }

  private static String indent(String text, Given given, Budget budget) {
    Object width = given.at(0, "width", 4L);
    String margin =
        width instanceof String s ? s : " ".repeat(Math.clamp(Values.integer(width), 0, 1000));
    boolean blank = given.flag(2, "blank", false);
    String[] lines = text.split("\n", -1);
    budget.make(text.length() + (long) margin.length() * lines.length);
    StringBuilder indented = new StringBuilder();
    for (int i = 0; i < lines.length; i++) {
      boolean margined = i == 0 ? given.flag(1, "first", false) : blank || !lines[i].isEmpty();
      indented.append(i > 0 ? "\n" : "").append(margined ? margin : "").append(lines[i]);
    }
    return indented.toString();
  }
}
