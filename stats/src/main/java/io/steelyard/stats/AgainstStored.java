package io.steelyard.stats;

import java.util.Optional;
import org.apache.commons.statistics.distribution.TDistribution;

/**
 * The interval of a ratio of one run's value to those of earlier runs, where the run is the unit:
 * what a machine does differently from day to day is in the scatter of the runs, and so in the
 * interval. It is the prediction interval of one more normal value, over logarithms: with standard
 * deviation s of n earlier values, t of n − 1 degrees times s·√(1 + 1/n) to either side. A run that
 * measures both sides in the same blocks has a much narrower one.
 */
public final class AgainstStored {
  private AgainstStored() {}

  /**
   * The interval of now over then, turned so that above 1 now is better; the estimate is the ratio
   * to the geometric mean.
   *
   * @param now above 0
   * @param then a value a run, above 0
   * @param higherIsBetter true for rates, false for times and bytes
   * @param level such as 0.95
   * @return empty below two earlier runs, which show no scatter
   */
  public static Optional<Interval> ratio(
      double now, double[] then, boolean higherIsBetter, double level) {
    Checks.level(level);
    Checks.positive(new double[] {now}, "now");
    Checks.positive(then, "then");
    if (then.length < 2) {
      return Optional.empty();
    }
    double[] logs = new double[then.length];
    for (int i = 0; i < logs.length; i++) {
      logs[i] = Math.log(then[i]);
    }
    double difference = Math.log(now) - Moments.mean(logs);
    double turned = higherIsBetter ? difference : -difference;
    double half =
        TDistribution.of(logs.length - 1).inverseSurvivalProbability((1 - level) / 2)
            * Moments.standardDeviation(logs)
            * Math.sqrt(1 + 1.0 / logs.length);
    return Optional.of(
        new Interval(Math.exp(turned), Math.exp(turned - half), Math.exp(turned + half), level));
  }
}
