package io.steelyard.app;

import io.steelyard.lab.RunListener;
import io.steelyard.reports.terminal.ProgressBar;
import io.steelyard.reports.terminal.Style;
import io.steelyard.reports.terminal.Terminal;

/** Where a command talks to a person: results on stdout, progress and notes on stderr. */
final class Console {
  private static final int STEPS = 1000;

  private final Terminal out;
  private final Terminal err;

  /** On the process's own streams. */
  Console() {
    this(Terminal.out(), Terminal.err());
  }

  Console(Terminal out, Terminal err) {
    this.out = out;
    this.err = err;
  }

  /** How results may look. */
  Style style() {
    return out.style();
  }

  /** Prints a result. */
  void result(String text) {
    text.lines().map(out.style()::adapt).forEach(out.stream()::println);
  }

  /** Prints a table that was laid out, and perhaps coloured, in this console's {@link #style}. */
  void table(String rendered) {
    out.stream().print(rendered);
  }

  /** Parts results. */
  void blank() {
    out.stream().println();
  }

  /** Says something that is no result. */
  void note(String text) {
    err.stream().println(err.style().adapt(text));
  }

  /** Shows how far a download or another long step is. */
  ProgressBar bar(String what, long total, ProgressBar.Unit unit) {
    return ProgressBar.start(err, what, total, unit);
  }

  /** Watches a run: one bar a stage. */
  Watching watch() {
    return new Watching();
  }

  /** A run being watched; closed before results are printed. */
  final class Watching implements RunListener, AutoCloseable {
    private String stage = "";
    private ProgressBar bar;

    @Override
    public void progress(String name, double share, String detail) {
      if (!name.equals(stage)) {
        close();
        stage = name;
        bar = ProgressBar.start(err, name, STEPS, ProgressBar.Unit.SHARE);
      }
      bar.detail(detail);
      bar.update(Math.round(share * STEPS));
    }

    @Override
    public void note(String message) {
      if (bar == null) {
        Console.this.note(message);
      } else {
        bar.log(message);
      }
    }

    @Override
    public void close() {
      if (bar != null) {
        bar.close();
        bar = null;
        stage = "";
      }
    }
  }
}
