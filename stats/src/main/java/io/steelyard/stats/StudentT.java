package io.steelyard.stats;

import org.apache.commons.statistics.distribution.TDistribution;

/** Student's interval for the mean of independent values. */
final class StudentT {

  private StudentT() {}

  /** The quantile that leaves (1 − level)/2 above it, with n − 1 degrees of freedom. */
  static double critical(int n, double level) {
    return TDistribution.of(n - 1).inverseSurvivalProbability((1 - level) / 2);
  }

  /** Mean ± t·s/√n of at least two values. */
  static Interval interval(double[] values, double level) {
    double mean = Moments.mean(values);
    double standardError = Moments.standardDeviation(values) / Math.sqrt(values.length);
    double half = critical(values.length, level) * standardError;
    return new Interval(mean, mean - half, mean + half, level);
  }
}
