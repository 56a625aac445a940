package io.steelyard.stats;

import java.util.Arrays;

/**
 * Tukey's fences: values more than 1.5 interquartile ranges outside the quartiles are near
 * outliers, more than 3 far ones. They mark, and never remove. Source: Tukey, "Exploratory Data
 * Analysis" (1977); quartiles as {@link Quantiles} has them.
 *
 * <p>Where the middle half of the values is equal, the fences stand on it, and every other value is
 * far.
 *
 * @param lowerQuartile first quartile
 * @param upperQuartile third quartile
 */
public record TukeyFences(double lowerQuartile, double upperQuartile) {

  /** Where a value lies. */
  public enum Mark {
    INSIDE,
    NEAR,
    FAR
  }

  /**
   * The fences of a set of values.
   *
   * @param values at least one finite value
   */
  public static TukeyFences of(double[] values) {
    double[] sorted = Checks.finite(values, "values").clone();
    Arrays.sort(sorted);
    return new TukeyFences(Quantiles.ofSorted(sorted, 0.25), Quantiles.ofSorted(sorted, 0.75));
  }

  /** Marks one value; one that lies on a fence is inside it. */
  public Mark mark(double value) {
    double range = upperQuartile - lowerQuartile;
    double outside = Math.max(lowerQuartile - value, value - upperQuartile);
    if (outside > 3 * range) {
      return Mark.FAR;
    }
    return outside > 1.5 * range ? Mark.NEAR : Mark.INSIDE;
  }

  /** Marks each value. */
  public Mark[] marks(double[] values) {
    return Arrays.stream(values).mapToObj(this::mark).toArray(Mark[]::new);
  }

  /** How many of the values are far outliers. */
  public long countFar(double[] values) {
    return Arrays.stream(values).filter(value -> mark(value) == Mark.FAR).count();
  }
}
