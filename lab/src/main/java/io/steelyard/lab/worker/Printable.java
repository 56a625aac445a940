package io.steelyard.lab.worker;

/** Text from another program, made fit for a terminal: no control characters, no endless lines. */
final class Printable {
  private static final int LONGEST = 1_000;

  private Printable() {}

  /** One line of at most 1,000 characters. */
  static String line(String text) {
    String cut = text.length() > LONGEST ? text.substring(0, LONGEST) + " …" : text;
    return cut.replaceAll("\\R", " ").replaceAll("\\p{Cntrl}", "?");
  }

  /** Several lines, of any length. */
  static String lines(String text) {
    return text.replaceAll("[\\p{Cntrl}&&[^\\n\\t]]", "?");
  }
}
