package io.steelyard.stats;

/**
 * An estimate with a confidence interval.
 *
 * @param estimate the point estimate
 * @param low lower bound
 * @param high upper bound
 * @param level confidence level, such as 0.95
 */
public record Interval(double estimate, double low, double high, double level) {

  public Interval {
    if (!(low <= high)) {
      throw new IllegalArgumentException("interval [" + low + ", " + high + "] is upside down");
    }
  }

  /** Half the width, as a share of the estimate. */
  public double relativeHalfWidth() {
    return (high - low) / 2 / Math.abs(estimate);
  }

  /** The interval of a ratio, this one being that of its logarithm. */
  Interval exponential() {
    return new Interval(Math.exp(estimate), Math.exp(low), Math.exp(high), level);
  }

  /**
   * The standard error behind the interval of a mean, if it is Student's.
   *
   * @param values how many independent values the mean is of, at least two
   */
  public double standardError(int values) {
    return (high - low) / 2 / StudentT.critical(values, level);
  }

  /** The smallest interval that holds both, around this estimate. */
  public Interval widest(Interval other) {
    return new Interval(estimate, Math.min(low, other.low), Math.max(high, other.high), level);
  }
}
