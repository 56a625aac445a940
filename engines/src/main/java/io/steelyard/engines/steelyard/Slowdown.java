package io.steelyard.engines.steelyard;

import io.steelyard.lab.worker.EngineException;
import java.util.Locale;

/**
 * A slowdown of a known size, to show what a lab can see: every pass takes longer by the same share
 * of its own time.
 *
 * @param share such as 0.05, at least 0
 */
record Slowdown(double share) {
  static final String OPTION = "slowdown";

  static final Slowdown NONE = new Slowdown(0);

  private static final double MOST = 10;

  /** Reads a share such as {@code 0.05}. */
  static Slowdown of(String text) throws EngineException {
    double share;
    try {
      share = Double.parseDouble(text);
    } catch (NumberFormatException e) {
      throw new EngineException(EngineException.Kind.BAD_REQUEST, refusal(text), e);
    }
    if (!(share >= 0 && share <= MOST)) {
      throw new EngineException(EngineException.Kind.BAD_REQUEST, refusal(text));
    }
    return new Slowdown(share);
  }

  private static String refusal(String text) {
    return "steelyard: %s must be a share from 0 to %.0f, such as 0.05, not '%s'"
        .formatted(OPTION, MOST, text);
  }

  /** What it adds to an engine's description. */
  String description() {
    return share > 0 ? String.format(Locale.ROOT, ", slowed by %.3g %%", 100 * share) : "";
  }

  /**
   * Keeps the processor busy for the share of what has passed.
   *
   * @param start when the pass began, by {@link System#nanoTime}
   */
  void since(long start) {
    if (share > 0) {
      long now = System.nanoTime();
      long end = now + (long) (share * (now - start));
      while (System.nanoTime() < end) {
        Thread.onSpinWait();
      }
    }
  }
}
