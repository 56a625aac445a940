package io.steelyard.reports.terminal;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Breaks text into lines by the columns it fills: at spaces (not at no-break spaces), then behind
 * signs, then anywhere.
 */
public final class Wrap {

  /** Behind these a label such as {@code llamacpp:threads=2,flash=on} may be broken. */
  private static final String BREAK_BEHIND = ":,@_-";

  private static final Pattern SPACES = Pattern.compile("[ \\t]+");

  private Wrap() {}

  /**
   * The text in lines that fit.
   *
   * @param text its newlines are kept; spaces are kept in lines that fit as they are
   * @param width columns of a line, at least 2, which is what one character can need
   * @return at least one line
   */
  public static List<String> lines(String text, int width) {
    if (width < 2) {
      throw new IllegalArgumentException("a line of " + width + " columns can't hold a character");
    }
    List<String> lines = new ArrayList<>();
    text.lines().forEach(line -> wrap(line, width, lines));
    return lines.isEmpty() ? List.of("") : lines;
  }

  /** Columns of the longest piece that {@link #lines} would break only if it must. */
  static int longestWord(String text) {
    int longest = 0;
    for (String word : SPACES.split(text.strip(), -1)) {
      for (String piece : pieces(word)) {
        longest = Math.max(longest, DisplayWidth.of(piece));
      }
    }
    return longest;
  }

  private static void wrap(String line, int width, List<String> lines) {
    if (DisplayWidth.of(line) <= width) {
      lines.add(line);
      return;
    }
    StringBuilder current = new StringBuilder();
    for (String word : SPACES.split(line.strip(), -1)) {
      String separator = current.isEmpty() ? "" : " ";
      for (String piece : pieces(word)) {
        if (DisplayWidth.of(current + separator + piece) > width) {
          if (!current.isEmpty()) {
            lines.add(current.toString());
            current.setLength(0);
          }
          String rest = piece;
          while (DisplayWidth.of(rest) > width) {
            String head = DisplayWidth.head(rest, width);
            lines.add(head);
            rest = rest.substring(head.length());
          }
          current.append(rest);
        } else {
          current.append(separator).append(piece);
        }
        separator = "";
      }
    }
    if (!current.isEmpty()) {
      lines.add(current.toString());
    }
  }

  /** The word cut behind every sign at which it may be broken. */
  private static List<String> pieces(String word) {
    List<String> pieces = new ArrayList<>();
    int start = 0;
    for (int i = 0; i < word.length() - 1; i++) {
      char next = word.charAt(i + 1);
      // Before a digit such a sign belongs to a number: 1,014 or 1e-7 or 10:30.
      boolean joined = Character.isDigit(next) || next == Table.NO_BREAK;
      if (BREAK_BEHIND.indexOf(word.charAt(i)) >= 0 && !joined) {
        pieces.add(word.substring(start, i + 1));
        start = i + 1;
      }
    }
    pieces.add(word.substring(start));
    return pieces;
  }
}
