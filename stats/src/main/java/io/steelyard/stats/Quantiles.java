package io.steelyard.stats;

import java.util.Arrays;
import java.util.Optional;
import org.apache.commons.statistics.distribution.BinomialDistribution;

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

  /**
   * The interval of the {@code p}-quantile of the distribution from which independent values came,
   * whatever that distribution is: the number of values below its quantile is binomial, so the
   * order statistics with the binomial's tail on either side hold it. It reaches the level or more,
   * never less. Source: David and Nagaraja, "Order Statistics" (2003), section 7.1.
   *
   * <p>Trials of one fork are not independent; for a fork's sake give it one value a fork.
   *
   * @param values finite values
   * @param p above 0 and below 1
   * @param level such as 0.95
   * @return empty where there are fewer values than {@link #leastValues} asks
   */
  public static Optional<Interval> interval(double[] values, double p, double level) {
    int n = values.length;
    if (n < leastValues(p, level)) {
      return Optional.empty();
    }
    double[] sorted = Checks.finite(values, "values").clone();
    Arrays.sort(sorted);
    BinomialDistribution below = BinomialDistribution.of(n, p);
    double tail = (1 - level) / 2;
    // Fewer values below the quantile than the first, or more than the second, are too rare; at
    // the very least number of values rounding may put either one too far out.
    int fewest = Math.max(1, below.inverseCumulativeProbability(tail));
    int most = Math.min(n - 1, below.inverseSurvivalProbability(tail));
    return Optional.of(new Interval(ofSorted(sorted, p), sorted[fewest - 1], sorted[most], level));
  }

  /**
   * The fewest values with which {@link #interval} exists: all of them may lie on one side of the
   * quantile with a chance of at most half of what the level leaves. 6 for a median at 95 %, 36 for
   * p = 0.9, 368 for 0.99.
   */
  public static int leastValues(double p, double level) {
    if (!(p > 0 && p < 1)) {
      throw new IllegalArgumentException("quantile " + p + " has no interval; 0 < p < 1");
    }
    double tail = (1 - Checks.level(level)) / 2;
    double larger = Math.max(p, 1 - p);
    int n = 1;
    for (double allOnOneSide = larger; allOnOneSide > tail; allOnOneSide *= larger) {
      n++;
    }
    return n;
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
