package io.steelyard.stats;

/** Mean and spread of plain arrays, computed in two passes so that large offsets cost no digits. */
final class Moments {

  private Moments() {}

  static double mean(double[] values) {
    double sum = 0;
    for (double value : values) {
      sum += value;
    }
    return sum / values.length;
  }

  /** Sum of squared deviations from the mean; exactly 0 when all values are the same. */
  static double squaredDeviations(double[] values) {
    double mean = mean(values);
    double squares = 0;
    double rest = 0;
    boolean equal = true;
    for (double value : values) {
      double deviation = value - mean;
      squares += deviation * deviation;
      rest += deviation;
      equal &= value == values[0];
    }
    // The second term removes what rounding of the mean has added (Chan, Golub, LeVeque 1983).
    return equal ? 0 : Math.max(0, squares - rest * rest / values.length);
  }

  /** Unbiased variance (n − 1). */
  static double variance(double[] values) {
    return squaredDeviations(values) / (values.length - 1);
  }

  static double standardDeviation(double[] values) {
    return Math.sqrt(variance(values));
  }
}
