package io.steelyard.lab.worker;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * An engine as a user writes it: {@code name[:key=value,…]}.
 *
 * <p>A name with a slash in it is the path of a program that speaks the worker protocol.
 *
 * @param text as it was written
 * @param name the engine's name or path
 * @param options its options in the order written, without {@code label}
 * @param label what tables and records call it: the text itself, or what {@code label=…} says
 */
public record EngineSpec(String text, String name, Map<String, String> options, String label) {
  private static final int MAX_LENGTH = 4_096;

  /** Options that begin so set a variable of the worker's environment. */
  private static final String ENVIRONMENT = "env.";

  public EngineSpec {
    options = Collections.unmodifiableMap(new LinkedHashMap<>(options));
  }

  /**
   * Reads one.
   *
   * @throws IllegalArgumentException that says what is wrong with the text
   */
  public static EngineSpec parse(String text) {
    if (text.length() > MAX_LENGTH) {
      throw new IllegalArgumentException(
          "an engine is written in at most " + MAX_LENGTH + " characters, not " + text.length());
    }
    int colon = text.indexOf(':');
    String name = (colon < 0 ? text : text.substring(0, colon)).strip();
    if (name.isEmpty()) {
      throw wrong(text, "the name is missing");
    }
    if (text.chars().anyMatch(Character::isISOControl)) {
      throw wrong(text.replaceAll("\\p{Cntrl}", "?"), "it holds a control character");
    }
    Map<String, String> options = new LinkedHashMap<>();
    if (colon >= 0) {
      for (String option : text.substring(colon + 1).split(",", -1)) {
        int equals = option.indexOf('=');
        if (equals < 0) {
          throw wrong(text, "option '" + option.strip() + "' has no value");
        }
        String key = option.substring(0, equals).strip();
        String value = option.substring(equals + 1).strip();
        if (key.isEmpty()) {
          throw wrong(text, "an option has no key before '='");
        }
        if (options.putIfAbsent(key, value) != null) {
          throw wrong(text, "option '" + key + "' is there twice");
        }
      }
    }
    String label = options.remove("label");
    if (label != null && label.isEmpty()) {
      throw wrong(text, "the label is empty");
    }
    return new EngineSpec(text, name, options, label == null ? text.strip() : label);
  }

  /** Whether the name is the path of a program rather than the name of a known engine. */
  public boolean isPath() {
    return name.indexOf('/') >= 0;
  }

  /** The variables that options set in the worker's environment: {@code env.NAME=…}. */
  public static Map<String, String> environment(Map<String, String> options) {
    Map<String, String> environment = new LinkedHashMap<>();
    options.forEach(
        (key, value) -> {
          if (key.startsWith(ENVIRONMENT)) {
            environment.put(key.substring(ENVIRONMENT.length()), value);
          }
        });
    return environment;
  }

  private static IllegalArgumentException wrong(String text, String reason) {
    return new IllegalArgumentException(
        "engine '" + text + "': " + reason + "; write it as name or name:key=value,key=value");
  }
}
