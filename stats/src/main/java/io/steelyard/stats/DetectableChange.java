package io.steelyard.stats;

import java.util.OptionalDouble;
import org.apache.commons.statistics.distribution.ChiSquaredDistribution;
import org.apache.commons.statistics.distribution.NormalDistribution;

/** What a design can find. */
public final class DetectableChange {
  /** Points at which the distribution of the spread is taken. */
  private static final int POINTS = 500;

  private static final double FAR = 1e6;

  private DetectableChange() {}

  /**
   * The smallest true ratio above 1 that a single look at so many blocks calls {@code faster} with
   * the power asked for: t of the blocks' logarithms, less the margin's, must exceed Student's
   * quantile, which it does by the noncentral t distribution.
   *
   * @param deviation standard deviation of a block's logarithmic ratio, not negative
   * @param blocks blocks of the design
   * @param margin the change that matters, such as 0.02
   * @param level of the interval that must clear the margin
   * @param power such as 0.95
   * @return empty below {@value SequentialPlan#FIRST_LOOK} blocks, which allow no verdict
   */
  public static OptionalDouble ratio(
      double deviation, int blocks, double margin, double level, double power) {
    if (!(deviation >= 0) || !(margin >= 0)) {
      throw new IllegalArgumentException(
          "deviation %s, margin %s: neither may be negative".formatted(deviation, margin));
    }
    Checks.level(power);
    if (blocks < SequentialPlan.FIRST_LOOK) {
      return OptionalDouble.empty();
    }
    double[] criticals = criticals(blocks, StudentT.critical(blocks, level));
    double low = 0;
    double high = FAR;
    while (high - low > 1e-9 * high) {
      double middle = (low + high) / 2;
      if (power(criticals, middle) < power) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return OptionalDouble.of((1 + margin) * Math.exp(high * deviation / Math.sqrt(blocks)));
  }

  /** What the mean must exceed, in its own standard deviations, by what spread the blocks show. */
  private static double[] criticals(int blocks, double critical) {
    ChiSquaredDistribution squares = ChiSquaredDistribution.of(blocks - 1);
    double[] criticals = new double[POINTS];
    for (int i = 0; i < POINTS; i++) {
      double square = squares.inverseCumulativeProbability((i + 0.5) / POINTS);
      criticals[i] = critical * Math.sqrt(square / (blocks - 1));
    }
    return criticals;
  }

  /** The chance that a mean so far from the margin clears it. */
  private static double power(double[] criticals, double distance) {
    NormalDistribution normal = NormalDistribution.of(0, 1);
    double sum = 0;
    for (double critical : criticals) {
      sum += normal.cumulativeProbability(distance - critical);
    }
    return sum / criticals.length;
  }
}
