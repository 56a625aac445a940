package io.steelyard.reports.terminal;

import java.io.PrintStream;
import java.nio.charset.Charset;
import java.util.Map;
import java.util.OptionalInt;

/**
 * A stream that people read, and what can be shown on it.
 *
 * @param stream where text goes; written in the stream's own charset
 * @param interactive whether it is a terminal whose line can be redrawn
 * @param style width, colours and characters that it can show
 */
public record Terminal(PrintStream stream, boolean interactive, Style style) {

  private static final int STDOUT = 1;
  private static final int STDERR = 2;

  /** Standard output, where results go. */
  public static Terminal out() {
    return detect(System.out, STDOUT, System.getenv());
  }

  /** Standard error, where progress and warnings go. */
  public static Terminal err() {
    return detect(System.err, STDERR, System.getenv());
  }

  private static Terminal detect(
      PrintStream stream, int descriptor, Map<String, String> environment) {
    boolean terminal = Tty.isTerminal(descriptor);
    return of(
        stream, terminal, terminal ? Tty.columns(descriptor) : OptionalInt.empty(), environment);
  }

  /**
   * Judges a stream by what is known of it.
   *
   * @param terminal whether it is a terminal
   * @param columns the terminal's width, if it said so
   * @param environment {@code COLUMNS} overrides the width, {@code NO_COLOR} (any text) and {@code
   *     TERM=dumb} switch colours off; see no-color.org
   */
  static Terminal of(
      PrintStream stream, boolean terminal, OptionalInt columns, Map<String, String> environment) {
    boolean dumb = "dumb".equals(environment.get("TERM"));
    boolean colour = terminal && !dumb && environment.getOrDefault("NO_COLOR", "").isEmpty();
    int width = columns.orElse(terminal ? 80 : Style.FILE.width());
    String asked = environment.getOrDefault("COLUMNS", "");
    if (asked.matches("[1-9][0-9]{0,3}")) {
      width = Integer.parseInt(asked);
    }
    return new Terminal(
        stream, terminal && !dumb, new Style(width, colour, isUnicode(stream.charset())));
  }

  private static boolean isUnicode(Charset charset) {
    return charset.canEncode() && charset.newEncoder().canEncode("±×─█漢");
  }
}
