package io.steelyard.stats;

import java.util.OptionalDouble;

/**
 * Cohen's d: the difference of two means in units of their pooled standard deviation. Source:
 * Cohen, "Statistical Power Analysis for the Behavioral Sciences" (1988), section 2.5.
 */
public final class CohensD {

  private CohensD() {}

  /**
   * First less second; empty where either has fewer than two values or there is no spread.
   *
   * @param first fork means of one cell
   * @param second fork means of the other
   */
  public static OptionalDouble of(double[] first, double[] second) {
    Checks.finite(first, "first");
    Checks.finite(second, "second");
    if (first.length < 2 || second.length < 2) {
      return OptionalDouble.empty();
    }
    double pooled =
        (Moments.squaredDeviations(first) + Moments.squaredDeviations(second))
            / (first.length + second.length - 2);
    return pooled == 0
        ? OptionalDouble.empty()
        : OptionalDouble.of((Moments.mean(first) - Moments.mean(second)) / Math.sqrt(pooled));
  }
}
