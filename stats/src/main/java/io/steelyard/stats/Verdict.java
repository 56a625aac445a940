package io.steelyard.stats;

import java.util.Locale;

/** What a ratio's interval allows to be said. */
public enum Verdict {
  FASTER,
  SLOWER,
  EQUIVALENT,
  INCONCLUSIVE,
  /** The two sides differ in something that the study did not name. */
  NOT_COMPARABLE;

  /**
   * Judges a ratio that is turned so that above 1 is better.
   *
   * @param ratio subject over baseline with its interval
   * @param margin the change that matters, such as 0.02
   */
  public static Verdict of(Interval ratio, double margin) {
    if (ratio.low() > 1 + margin) {
      return FASTER;
    }
    if (ratio.high() < 1 - margin) {
      return SLOWER;
    }
    return ratio.low() >= 1 - margin && ratio.high() <= 1 + margin ? EQUIVALENT : INCONCLUSIVE;
  }

  /** The spelling in records and tables: {@code not comparable}. */
  public String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
