package io.steelyard.stats;

import java.util.Arrays;

/**
 * Quantiles by linear interpolation of the order statistics: type 7 of Hyndman and Fan, "Sample
 * quantiles in statistical packages", The American Statistician 50 (1996), which is also the
 * default of R and NumPy.
 */
public final class Quantiles {

  private Quantiles() {}

  /**
   * The {@code p}-quantile of the values, which need not be sorted and are left as they are.
   *
   * @param values at least one finite value
   * @param p from 0 (the minimum) to 1 (the maximum)
   */
  public static double of(double[] values, double p) {
    double[] sorted = Checks.finite(values, "values").clone();
    Arrays.sort(sorted);
    return ofSorted(sorted, p);
  }

  /** The median: the middle value, or the mean of the two middle ones. */
  public static double median(double[] values) {
    return of(values, 0.5);
  }

  /** The {@code p}-quantile of values that are in ascending order already. */
  static double ofSorted(double[] sorted, double p) {
    if (sorted.length == 0) {
      throw new IllegalArgumentException("a quantile needs at least one value");
    }
    if (!(p >= 0 && p <= 1)) {
      throw new IllegalArgumentException("quantile " + p + " is outside 0…1");
    }
    double position = (sorted.length - 1) * p;
    int below = (int) position;
    int above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
  }
}
