package io.steelyard.reports.terminal;

import java.util.function.LongSupplier;

/**
 * Says how far long work is. On a terminal one line is redrawn in place: what, bar, percent, rate,
 * time left; in a log a line is written every few seconds. {@link #close} takes the bar away before
 * results are printed.
 *
 * <p>Nothing wakes up by itself: the line is drawn by the threads that report progress, so that no
 * timer runs beside a measurement. Any thread may report.
 */
public final class ProgressBar implements AutoCloseable {

  /** What is counted. */
  public enum Unit {
    BYTES,
    ITEMS,
    /** Nothing that a person would count: only the share is shown. */
    SHARE;

    private String format(long amount) {
      return this == BYTES ? Format.bytes(amount) : Format.count(amount);
    }
  }

  private static final long SECOND = 1_000_000_000L;
  private static final long REDRAW_NANOS = 100_000_000L;
  private static final long LOG_NANOS = 5_000_000_000L;

  /** From so many columns on there is room for a bar, and for a long one. */
  private static final int NARROW = 72;

  private static final int WIDE = 110;
  private static final int NARROW_BAR = 10;
  private static final int WIDE_BAR = 24;

  /** Columns that percent, amounts, rate and time left take at most. */
  private static final int FIGURES = 52;

  private static final int SHORTEST_NAME = 12;
  private static final String CLEAR_LINE = "\r\u001b[K";

  private final Terminal terminal;
  private final LongSupplier clock;
  private final Unit unit;
  private final String what;
  private final long total;
  private final long begun;
  private final long start;
  private long done;
  private String detail = "";
  private long lastShown;
  private boolean drawn;
  private boolean closed;

  private ProgressBar(
      Terminal terminal, String what, long done, long total, Unit unit, LongSupplier clock) {
    this.terminal = terminal;
    this.clock = clock;
    this.unit = unit;
    this.what = what;
    this.done = done;
    this.begun = done;
    this.total = total;
    this.start = clock.getAsLong();
    show();
  }

  /**
   * Starts a bar and shows it.
   *
   * @param what what is being done, such as {@code downloading SmolLM2-135M-Instruct}
   * @param total how much there is to do; 0 where nobody knows
   */
  public static ProgressBar start(Terminal terminal, String what, long total, Unit unit) {
    return resume(terminal, what, 0, total, unit);
  }

  /** Starts a bar for work of which a part was done earlier; that part doesn't count as speed. */
  public static ProgressBar resume(
      Terminal terminal, String what, long done, long total, Unit unit) {
    return new ProgressBar(terminal, what, done, total, unit, System::nanoTime);
  }

  static ProgressBar withClock(
      Terminal terminal, String what, long total, Unit unit, LongSupplier clock) {
    return new ProgressBar(terminal, what, 0, total, unit, clock);
  }

  /** Reports how much is done by now. */
  public synchronized void update(long nowDone) {
    done = nowDone;
    showIfDue();
  }

  /** Reports that so much more is done. */
  public synchronized void advance(long more) {
    done += more;
    showIfDue();
  }

  /** Says what is going on just now, such as a live estimate; shown behind the figures. */
  public synchronized void detail(String text) {
    detail = text;
    showIfDue();
  }

  /** Prints a line of text above the bar. */
  public synchronized void log(String line) {
    clear();
    terminal.stream().println(terminal.style().adapt(line));
    if (!closed && terminal.interactive()) {
      show();
    }
  }

  /** Takes the bar away; in a log, writes how it ended. Closing again does nothing. */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (terminal.interactive()) {
      clear();
      terminal.stream().flush();
    } else if (done != begun) {
      long elapsed = clock.getAsLong() - start;
      print(what + ": " + amount() + " in " + Format.duration(elapsed));
    }
  }

  private void showIfDue() {
    long interval = terminal.interactive() ? REDRAW_NANOS : LOG_NANOS;
    if (!closed && clock.getAsLong() - lastShown >= interval) {
      show();
    }
  }

  private void show() {
    lastShown = clock.getAsLong();
    if (!terminal.interactive()) {
      print(withDetail(done == begun ? what : what + ": " + amount() + pace(lastShown - start)));
      return;
    }
    Style style = terminal.style();
    // The last column stays free: some terminals wrap as soon as it is filled. What stands before
    // the figures has its room by the terminal alone, so that nothing jumps while they change.
    int room = style.width() - 1;
    String bar = bar(style.width() < WIDE ? NARROW_BAR : WIDE_BAR);
    int forName = Math.max(SHORTEST_NAME, room - DisplayWidth.of(bar) - FIGURES);
    String figures = " " + amount() + pace(lastShown - start);
    String text = style.adapt(withDetail(DisplayWidth.shorten(what, forName) + bar + figures));
    terminal.stream().print(CLEAR_LINE + DisplayWidth.head(text, room));
    terminal.stream().flush();
    drawn = true;
  }

  private void clear() {
    if (drawn) {
      terminal.stream().print(CLEAR_LINE);
      drawn = false;
    }
  }

  private void print(String line) {
    terminal.stream().println(terminal.style().adapt(line));
    terminal.stream().flush();
  }

  private String withDetail(String text) {
    return detail.isEmpty() ? text : text + " · " + detail;
  }

  private double share() {
    return Math.clamp((double) done / total, 0, 1);
  }

  private String bar(int columns) {
    if (total <= 0 || terminal.style().width() < NARROW) {
      return "";
    }
    boolean unicode = terminal.style().unicode();
    int cells = unicode ? columns : columns - 2;
    int full = (int) (share() * cells);
    return unicode
        ? " " + "█".repeat(full) + "░".repeat(cells - full)
        : " [" + "#".repeat(full) + ".".repeat(cells - full) + "]";
  }

  private String amount() {
    String amount = unit.format(done);
    if (total <= 0) {
      return amount;
    }
    String percent = (int) (100 * share()) + " %";
    return unit == Unit.SHARE
        ? percent
        : percent + " (" + amount + " of " + unit.format(total) + ")";
  }

  /** Rate, for bytes, and time left, once there is something to judge them by. */
  private String pace(long elapsed) {
    long fresh = done - begun;
    if (fresh <= 0 || elapsed < REDRAW_NANOS) {
      return "";
    }
    double perNanosecond = (double) fresh / elapsed;
    String rate =
        unit == Unit.BYTES ? ", " + Format.bytes((long) (perNanosecond * 1e9)) + "/s" : "";
    if (total <= done) {
      return rate;
    }
    long left = (long) ((total - done) / perNanosecond);
    return rate + ", " + (left < SECOND ? "< 1 s" : Format.duration(left)) + " left";
  }
}
