package io.steelyard.stats;

import java.util.Arrays;
import java.util.Optional;

/**
 * The interval of a ratio of two cells that were not measured in the same blocks, such as those of
 * two runs: Welch's interval for the difference of the mean logarithms of fork means. Where blocks
 * can be paired, {@link Intervals#ratio} is narrower and allows for a machine that drifts; this one
 * does not.
 */
public final class UnpairedRatio {
  private UnpairedRatio() {}

  /**
   * The interval of subject over baseline, turned so that above 1 the subject is better; the
   * estimate is the ratio of the geometric means.
   *
   * @param subject fork means, above 0
   * @param baseline fork means, above 0
   * @param higherIsBetter true for rates, false for times and bytes
   * @param level such as 0.95
   * @return empty below two forks on either side
   */
  public static Optional<Interval> of(
      double[] subject, double[] baseline, boolean higherIsBetter, double level) {
    Checks.level(level);
    if (subject.length < 2 || baseline.length < 2) {
      return Optional.empty();
    }
    double[] above = logarithms(higherIsBetter ? subject : baseline, "values above the line");
    double[] below = logarithms(higherIsBetter ? baseline : subject, "values below the line");
    return Optional.of(
        Welch.interval(
                Moments.mean(above) - Moments.mean(below),
                Moments.variance(above) / above.length,
                above.length,
                Moments.variance(below) / below.length,
                below.length,
                level)
            .exponential());
  }

  private static double[] logarithms(double[] values, String name) {
    return Arrays.stream(Checks.positive(values, name)).map(Math::log).toArray();
  }
}
