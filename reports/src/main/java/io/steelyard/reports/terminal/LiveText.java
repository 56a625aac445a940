package io.steelyard.reports.terminal;

import java.util.ArrayList;
import java.util.List;

/**
 * Text that is redrawn in place while it changes, over several lines. {@link #close} takes it away
 * before the result is printed. Where there is no terminal nothing is shown.
 */
public final class LiveText implements AutoCloseable {
  /** Fewer than any terminal's window: a line that has left it can't be redrawn. */
  private static final int MOST_LINES = 16;

  private static final String CLEAR_BELOW = "\r\u001b[J";

  private final Terminal terminal;
  private int above;
  private boolean drawn;

  private LiveText(Terminal terminal) {
    this.terminal = terminal;
  }

  /** A text on a terminal. */
  public static LiveText on(Terminal terminal) {
    return new LiveText(terminal);
  }

  /** Shows a text in place of the one before; of a long one the beginning. */
  public void show(String text) {
    if (!terminal.interactive()) {
      return;
    }
    List<String> lines = lines(text);
    if (lines.size() > MOST_LINES) {
      int more = lines.size() - MOST_LINES + 1;
      lines = new ArrayList<>(lines.subList(0, MOST_LINES - 1));
      lines.add(terminal.style().adapt("… " + more + " more lines"));
    }
    terminal.stream().print(clear() + String.join("\n", lines));
    terminal.stream().flush();
    above = lines.size() - 1;
    drawn = true;
  }

  /** Lines broken at the last column, so that little moves when a word changes. */
  private List<String> lines(String text) {
    // The last column stays free: some terminals wrap as soon as it is filled.
    int room = Math.max(2, terminal.style().width() - 1);
    List<String> lines = new ArrayList<>();
    for (String line : text.replace("\t", "    ").split("\\R", -1)) {
      String rest = terminal.style().adapt(line);
      String head = DisplayWidth.head(rest, room);
      while (head.length() < rest.length()) {
        lines.add(head);
        rest = rest.substring(head.length());
        head = DisplayWidth.head(rest, room);
      }
      lines.add(rest);
    }
    return lines;
  }

  private String clear() {
    if (!drawn) {
      return "";
    }
    return (above == 0 ? "" : "\u001b[" + above + "A") + CLEAR_BELOW;
  }

  /** Takes the text away. Closing again does nothing. */
  @Override
  public void close() {
    terminal.stream().print(clear());
    terminal.stream().flush();
    drawn = false;
  }
}
