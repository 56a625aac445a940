package io.steelyard.models.chat;

import io.steelyard.models.chat.Value.Callable;
import io.steelyard.models.chat.Value.Fault;
import io.steelyard.models.chat.Value.Given;
import io.steelyard.models.chat.Value.Namespace;
import java.time.Clock;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The functions that every template has: Jinja's own and those that Hugging Face adds. */
final class Functions {
  private static final long LONGEST_RANGE = 100_000;

  private Functions() {}

  static Map<String, Object> all(Clock clock) {
    return Map.of(
        "range", (Callable) Functions::range,
        "dict", (Callable) (given, _) -> dict(given),
        "namespace", (Callable) (given, budget) -> namespace(given),
        "raise_exception", (Callable) (given, budget) -> refuse(given),
        "strftime_now",
            (Callable)
                (given, budget) -> time(given.string(0, "format"), ZonedDateTime.now(clock)));
  }

  private static Object refuse(Given given) {
    throw new Fault("it refuses these messages: " + Values.text(given.at(0, "message", "")));
  }

  private static Map<Object, Object> dict(Given given) {
    Map<Object, Object> dict = new LinkedHashMap<>();
    for (Object initial : given.positional()) {
      if (!(initial instanceof Map<?, ?> map)) {
        throw new Fault(
            "a dict is needed where a value of type " + Values.type(initial) + " stands");
      }
      dict.putAll(map);
    }
    dict.putAll(given.named());
    return dict;
  }

  private static Namespace namespace(Given given) {
    Namespace namespace = new Namespace();
    dict(given).forEach((key, value) -> namespace.variables().put(Values.text(key), value));
    return namespace;
  }

  private static List<Object> range(Given given, Budget budget) {
    boolean one = given.positional().size() < 2;
    long from = one ? 0 : given.integer(0, "start", 0);
    long to = one ? Values.integer(given.require(0, "stop")) : given.integer(1, "stop", 0);
    long step = given.integer(2, "step", 1);
    if (step == 0) {
      throw new Fault("the step of a range is zero");
    }
    List<Object> numbers = new ArrayList<>();
    for (long i = from; step > 0 ? i < to : i > to; i = Math.addExact(i, step)) {
      budget.step();
      if (numbers.size() == LONGEST_RANGE) {
        throw new Fault("a range is longer than " + LONGEST_RANGE);
      }
      numbers.add(i);
    }
    return numbers;
  }

  /** C's {@code strftime}, in English. */
  private static String time(String format, ZonedDateTime now) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < format.length(); i++) {
      char c = format.charAt(i);
      if (c != '%' || i + 1 == format.length()) {
        out.append(c);
        continue;
      }
      boolean unpadded = format.charAt(i + 1) == '-' && i + 2 < format.length();
      i += unpadded ? 2 : 1;
      String pattern =
          switch (format.charAt(i)) {
            case 'Y' -> "yyyy";
            case 'y' -> "yy";
            case 'm' -> unpadded ? "M" : "MM";
            case 'd' -> unpadded ? "d" : "dd";
            case 'e' -> "ppd";
            case 'H' -> unpadded ? "H" : "HH";
            case 'I' -> unpadded ? "h" : "hh";
            case 'M' -> unpadded ? "m" : "mm";
            case 'S' -> unpadded ? "s" : "ss";
            case 'p' -> "a";
            case 'B' -> "MMMM";
            case 'b', 'h' -> "MMM";
            case 'A' -> "EEEE";
            case 'a' -> "EEE";
            case 'j' -> "DDD";
            case 'F' -> "yyyy-MM-dd";
            case 'T' -> "HH:mm:ss";
            case 'Z' -> "zzz";
            case 'z' -> "xx";
            case '%' -> "'%'";
            default -> throw new Fault("the time format '%" + format.charAt(i) + "' is unknown");
          };
      out.append(DateTimeFormatter.ofPattern(pattern, Locale.ENGLISH).format(now));
    }
    return out.toString();
  }
}
