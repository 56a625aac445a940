package io.steelyard.stats;

import java.util.Optional;
import java.util.OptionalDouble;

/**
 * {@code y = factor · x^exponent}: the line of least squares through the logarithms of some points.
 *
 * @param points it goes through
 * @param meanLog mean of the logarithms of x
 * @param squares sum of their squared deviations from it
 * @param deviation residual standard deviation of the logarithms of y; NaN below three points
 */
public record PowerLaw(
    double exponent,
    double logFactor,
    int points,
    double meanLog,
    double squares,
    double deviation) {
  /** Two points always lie on a line. */
  private static final int PARAMETERS = 2;

  /**
   * The law of points.
   *
   * @param x above 0, at least two different ones
   * @param y above 0, one for each
   */
  public static PowerLaw through(double[] x, double[] y) {
    Checks.positive(x, "x");
    Checks.positive(y, "y");
    if (x.length != y.length) {
      throw new IllegalArgumentException(y.length + " values at " + x.length + " places");
    }
    int n = x.length;
    double meanX = 0;
    double meanY = 0;
    for (int i = 0; i < n; i++) {
      meanX += Math.log(x[i]) / n;
      meanY += Math.log(y[i]) / n;
    }
    double products = 0;
    double squares = 0;
    for (int i = 0; i < n; i++) {
      double off = Math.log(x[i]) - meanX;
      products += off * (Math.log(y[i]) - meanY);
      squares += off * off;
    }
    if (!(squares > 0)) {
      throw new IllegalArgumentException("points at one place have no law");
    }
    double exponent = products / squares;
    double logFactor = meanY - exponent * meanX;
    double residuals = 0;
    for (int i = 0; i < n; i++) {
      double residual = Math.log(y[i]) - logFactor - exponent * Math.log(x[i]);
      residuals += residual * residual;
    }
    double deviation = n > PARAMETERS ? Math.sqrt(residuals / (n - PARAMETERS)) : Double.NaN;
    return new PowerLaw(exponent, logFactor, n, meanX, squares, deviation);
  }

  /** The law of what grows as x does, through one point. */
  public static PowerLaw proportional(double x, double y) {
    Checks.positive(new double[] {x, y}, "point");
    return new PowerLaw(1, Math.log(y / x), 1, Math.log(x), 0, Double.NaN);
  }

  /** y at x. */
  public double at(double x) {
    return Math.exp(logFactor + exponent * Math.log(x));
  }

  /**
   * The interval in which a further point at x is to be expected: it allows for the law's error and
   * for the scatter of points around it. Empty below three points.
   *
   * @param level such as 0.95
   */
  public Optional<Interval> prediction(double x, double level) {
    if (points <= PARAMETERS) {
      return Optional.empty();
    }
    double off = Math.log(x) - meanLog;
    double half =
        StudentT.critical(points - 1, level)
            * deviation
            * Math.sqrt(1 + 1.0 / points + off * off / squares);
    double log = logFactor + exponent * Math.log(x);
    return Optional.of(new Interval(log, log - half, log + half, level).exponential());
  }

  /** The x from which on this law lies below another that grows faster; empty where it doesn't. */
  public OptionalDouble fallsBelow(PowerLaw other) {
    double at = Math.exp((logFactor - other.logFactor) / (other.exponent - exponent));
    return exponent < other.exponent && at > 0 && Double.isFinite(at)
        ? OptionalDouble.of(at)
        : OptionalDouble.empty();
  }
}
