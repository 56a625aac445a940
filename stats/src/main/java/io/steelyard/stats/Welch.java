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
    return of(
        Moments.mean(first) - Moments.mean(second),
        Moments.variance(first) / first.length,
        first.length,
        Moments.variance(second) / second.length,
        second.length);
  }

  /**
   * Tests a difference of two means.
   *
   * @param difference first less second
   * @param firstVariance variance of the first mean, not of its values
   * @param firstCount values behind it, at least two
   */
  static Optional<Welch> of(
      double difference,
      double firstVariance,
      int firstCount,
      double secondVariance,
      int secondCount) {
    double variance = firstVariance + secondVariance;
    if (variance == 0) {
      return Optional.empty();
    }
    double t = difference / Math.sqrt(variance);
    double degrees = degrees(firstVariance, firstCount, secondVariance, secondCount);
    double pValue = 2 * TDistribution.of(degrees).survivalProbability(Math.abs(t));
    return Optional.of(new Welch(t, degrees, pValue));
  }

  /** The interval of a difference of two means; a point where neither mean has any variance. */
  static Interval interval(
      double difference,
      double firstVariance,
      int firstCount,
      double secondVariance,
      int secondCount,
      double level) {
    double variance = firstVariance + secondVariance;
    double half = 0;
    if (variance > 0) {
      double degrees = degrees(firstVariance, firstCount, secondVariance, secondCount);
      half =
          TDistribution.of(degrees).inverseSurvivalProbability((1 - level) / 2)
              * Math.sqrt(variance);
    }
    return new Interval(difference, difference - half, difference + half, level);
  }

  private static double degrees(
      double firstVariance, int firstCount, double secondVariance, int secondCount) {
    double variance = firstVariance + secondVariance;
    return variance
        * variance
        / (firstVariance * firstVariance / (firstCount - 1)
            + secondVariance * secondVariance / (secondCount - 1));
  }
}
