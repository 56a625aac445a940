package io.steelyard.kernels.attention;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * What a variant is asked for, such as {@code segments=2048/8192,rates=1/4}. A variant takes what
 * it knows; what is left over then was a mistake.
 */
final class Parameters {
  /** Values of a list: more are a mistake. */
  private static final int LONGEST_LIST = 64;

  private final String variant;
  private final Map<String, String> values;
  private final TreeSet<String> known = new TreeSet<>();
  private Predicate<String> used = _ -> true;
  private String chosen = "";

  Parameters(String variant, Map<String, String> values) {
    this.variant = variant;
    this.values = new HashMap<>(values);
  }

  /** Says which of the others a choice uses: those that it doesn't are unknown to it. */
  void using(String choice, Predicate<String> parameters) {
    chosen = " with " + choice;
    used = parameters;
  }

  /** Any text. */
  String text(String key, String usual) {
    String value = take(key);
    return value == null ? usual : value;
  }

  /** A whole number between bounds. */
  int whole(String key, int usual, int least, int most) {
    String value = take(key);
    return value == null ? usual : whole(key, value, least, most);
  }

  /** Whole numbers, parted by slashes. */
  int[] wholes(String key, int[] usual, int least, int most) {
    String value = take(key);
    if (value == null) {
      return usual.clone();
    }
    String[] parts = value.split("/", LONGEST_LIST + 1);
    if (parts.length > LONGEST_LIST) {
      throw refused(key, value, "at most " + LONGEST_LIST + " numbers");
    }
    return Arrays.stream(parts).mapToInt(part -> whole(key, part, least, most)).toArray();
  }

  /** A number between bounds, which it may be. */
  double number(String key, double usual, double least, double most) {
    String value = take(key);
    if (value == null) {
      return usual;
    }
    try {
      double number = Double.parseDouble(value);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Refused as one that is out of bounds.
    }
    throw refused(key, value, "a number from %s to %s".formatted(least, most));
  }

  /** One of an enum's constants, spelled in small letters with dashes. */
  <E extends Enum<E>> E choice(String key, E usual) {
    String value = take(key);
    return value == null ? usual : constant(key, value, usual);
  }

  /** Some of an enum's constants, parted by slashes. */
  <E extends Enum<E>> List<E> choices(String key, E usual) {
    String value = take(key);
    return value == null
        ? List.of(usual)
        : Arrays.stream(value.split("/", LONGEST_LIST))
            .map(part -> constant(key, part, usual))
            .toList();
  }

  private <E extends Enum<E>> E constant(String key, String value, E usual) {
    for (E constant : usual.getDeclaringClass().getEnumConstants()) {
      if (label(constant).equals(value)) {
        return constant;
      }
    }
    throw refused(
        key,
        value,
        "one of "
            + Arrays.stream(usual.getDeclaringClass().getEnumConstants())
                .map(Parameters::label)
                .collect(Collectors.joining(", ")));
  }

  static String label(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * Says that everything has been taken.
   *
   * @throws IllegalArgumentException if something is left that the variant doesn't know
   */
  void requireAllTaken() {
    if (!values.isEmpty()) {
      String key = new TreeSet<>(values.keySet()).first();
      throw new IllegalArgumentException(
          "attention %s%s has no parameter '%s'; it has %s"
              .formatted(
                  variant, chosen, key, known.isEmpty() ? "none" : String.join(", ", known)));
    }
  }

  private String take(String key) {
    if (!used.test(key)) {
      return null;
    }
    known.add(key);
    return values.remove(key);
  }

  private int whole(String key, String value, int least, int most) {
    try {
      int number = Integer.parseInt(value);
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Refused as one that is out of bounds.
    }
    throw refused(key, value, "a whole number from %d to %d".formatted(least, most));
  }

  private IllegalArgumentException refused(String key, String value, String wanted) {
    return new IllegalArgumentException(
        "%s=%s of attention %s: it takes %s".formatted(key, value, variant, wanted));
  }
}
