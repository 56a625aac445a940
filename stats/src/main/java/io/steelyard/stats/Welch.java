package io.steelyard.stats;

import java.util.Optional;
import org.apache.commons.statistics.distribution.TDistribution;

/**
 * Welch's t-test for the difference of two means whose variances may differ, two-sided. Source:
 * Welch, "The generalization of 'Student's' problem when several different population variances are
 * involved", Biometrika 34 (1947).
 *
 * @param t difference of the means (first less second) over its standard error
 * @param degrees degrees of freedom by Welch and Satterthwaite
 * @param pValue two-sided
 */
public record Welch(double t, double degrees, double pValue) {

  /**
   * Tests two sets of fork means.
   *
   * @return empty where either has fewer than two values or neither has any spread: there is no
   *     noise to hold the difference against
   */
  public static Optional<Welch> of(double[] first, double[] second) {
    Checks.finite(first, "first");
    Checks.finite(second, "second");
    if (first.length < 2 || second.length < 2) {
      return Optional.empty();
    }
    double firstShare = Moments.variance(first) / first.length;
    double secondShare = Moments.variance(second) / second.length;
    double variance = firstShare + secondShare;
    if (variance == 0) {
      return Optional.empty();
    }
    double t = (Moments.mean(first) - Moments.mean(second)) / Math.sqrt(variance);
    double degrees =
        variance
            * variance
            / (firstShare * firstShare / (first.length - 1)
                + secondShare * secondShare / (second.length - 1));
    double pValue = 2 * TDistribution.of(degrees).survivalProbability(Math.abs(t));
    return Optional.of(new Welch(t, degrees, pValue));
  }
}
