package io.steelyard.stats;

import org.apache.commons.statistics.distribution.BetaDistribution;

/** How often something happens, from a count. */
public final class Proportion {
  private Proportion() {}

  /**
   * The largest chance that the count doesn't exclude: the exact one-sided bound of Clopper and
   * Pearson, Biometrika 26 (1934). Of none in n it is 1 − (1 − level)<sup>1/n</sup>.
   *
   * @param count how often it happened
   * @param of how often it could have, at least {@code count}; 0 excludes nothing
   * @param level such as 0.95
   */
  public static double atMost(int count, int of, double level) {
    if (count < 0 || count > of) {
      throw new IllegalArgumentException(count + " of " + of + " is no count");
    }
    Checks.level(level);
    return count == of
        ? 1
        : BetaDistribution.of(count + 1, of - count).inverseCumulativeProbability(level);
  }
}
