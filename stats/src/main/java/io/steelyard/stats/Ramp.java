package io.steelyard.stats;

import java.util.Arrays;

/**
 * A level, a line to another level, and that level: the least squares fit to a stretch that drifts.
 *
 * @param from index of the first value on the line
 * @param to index after the last value on the line
 * @param before the first level
 * @param after the second level
 * @param squares sum of squared deviations of the values
 * @param riseVariance variance of the difference of the levels, in units of the noise variance
 * @param count values that it was fitted to
 */
record Ramp(
    int from, int to, double before, double after, double squares, double riseVariance, int count) {

  /** Levels and knots. */
  private static final int PARAMETERS = 4;

  /** Lines that could begin or end at more places than this are tried at so many. */
  static final int MOST_KNOTS = 60;

  /**
   * The best ramp.
   *
   * @param values at least as many as the line is to be long
   * @param shortest fewest values on the line
   */
  static Ramp of(double[] values, int shortest) {
    int n = values.length;
    double mean = Moments.mean(values);
    double total = Moments.squaredDeviations(values);
    double[] deviations = Arrays.stream(values).map(value -> value - mean).toArray();
    int stride = 1 + n / MOST_KNOTS;
    Ramp best = new Ramp(0, n, mean, mean, Double.POSITIVE_INFINITY, 0, n);
    for (int from = 0; from + shortest <= n; from += stride) {
      // The last knot is always the end, whatever the stride.
      for (int to = n; to - from >= shortest; to -= stride) {
        Ramp ramp = between(deviations, from, to, mean, total);
        if (ramp.squares < best.squares) {
          best = ramp;
        }
      }
    }
    return best;
  }

  /** The difference of the levels, with Student's interval for where the line is. */
  Interval rise(double level) {
    double rise = after - before;
    int degrees = count - PARAMETERS;
    double half =
        StudentT.critical(degrees + 1, level) * Math.sqrt(squares / degrees * riseVariance);
    return new Interval(rise, rise - half, rise + half, level);
  }

  /** Regression on how far up the line a value is: 0 before it, 1 after it. */
  private static Ramp between(double[] deviations, int from, int to, double mean, double total) {
    int n = deviations.length;
    double sum = 0;
    double squares = 0;
    double products = 0;
    for (int i = from; i < n; i++) {
      double up = Math.min(1, (i - from + 0.5) / (to - from));
      sum += up;
      squares += up * up;
      products += up * deviations[i];
    }
    double spread = squares - sum * sum / n;
    double rise = products / spread;
    double before = mean - rise * sum / n;
    double left = Math.max(0, total - rise * products);
    return new Ramp(from, to, before, before + rise, left, 1 / spread, n);
  }
}
