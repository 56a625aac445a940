package io.steelyard.stats;

/** Location, spread and slope that a few wild values don't move. */
final class Robust {

  /** Turns a median absolute deviation into a standard deviation, for normal values. */
  static final double MAD_TO_SD = 1.482602218505602;

  private Robust() {}

  /** Median absolute deviation from the median, scaled to a standard deviation. */
  static double deviation(double[] values) {
    double median = Quantiles.median(values);
    double[] deviations = new double[values.length];
    for (int i = 0; i < values.length; i++) {
      deviations[i] = Math.abs(values[i] - median);
    }
    return MAD_TO_SD * Quantiles.median(deviations);
  }

  /** Theil and Sen's slope of evenly spaced values: the median of the slopes of all pairs. */
  static double slope(double[] values) {
    int n = values.length;
    double[] slopes = new double[n * (n - 1) / 2];
    int next = 0;
    for (int i = 0; i < n; i++) {
      for (int j = i + 1; j < n; j++) {
        slopes[next++] = (values[j] - values[i]) / (j - i);
      }
    }
    return Quantiles.median(slopes);
  }
}
