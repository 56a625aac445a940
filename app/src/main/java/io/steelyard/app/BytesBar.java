package io.steelyard.app;

import io.steelyard.models.ProgressListener;
import io.steelyard.reports.terminal.ProgressBar;

/** Shows bytes of long work; appears when the first are done and the total is known. */
final class BytesBar implements ProgressListener, AutoCloseable {
  private final Console console;
  private final String what;
  private ProgressBar bar;

  BytesBar(Console console, String what) {
    this.console = console;
    this.what = what;
  }

  @Override
  public void progress(long done, long total) {
    if (bar == null) {
      bar = console.bar(what, Math.max(0, total), ProgressBar.Unit.BYTES);
    }
    bar.update(done);
  }

  @Override
  public void close() {
    if (bar != null) {
      bar.close();
    }
  }
}
