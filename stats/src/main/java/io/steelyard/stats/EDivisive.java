package io.steelyard.stats;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Change points by E-divisive with the energy statistic: Matteson and James, "A nonparametric
 * approach for multiple change point analysis of multivariate data", JASA 109 (2014), which MongoDB
 * and Hunter use on histories of benchmarks.
 *
 * <p>A stretch of m values and the l values after it differ by
 *
 * <pre>  m·l/(m + l) · (2·mean |x − y| − mean |x − x'| − mean |y − y'|),</pre>
 *
 * means over all pairs across, within the first, and within the second. Of all places where a
 * segment can be cut, and all ends of the second stretch, the largest is taken; it is a change
 * point if fewer shuffles of the values within their segments reach as much than the level allows.
 * Then the two parts are looked at as segments of their own, until nothing more is significant.
 *
 * <p>The test needs no noise to be known and no distribution. It does need values that could as
 * well have come in another order: a series whose neighbours resemble each other is cut too often.
 */
public final class EDivisive {

  private static final Split NONE = new Split(-1, Double.NEGATIVE_INFINITY);

  private EDivisive() {}

  /**
   * A change point.
   *
   * @param position index of the first value after the change
   * @param pValue share of the shuffles that reach as large a difference, the series itself among
   *     them
   */
  public record Cut(int position, double pValue) {}

  /** A place to cut, and how much the stretches on either side of it differ. */
  record Split(int position, double difference) {}

  private record Segment(int from, int to, Split best) {}

  /**
   * The change points, in order of position. Takes a time that grows with the square of the length,
   * times the shuffles.
   *
   * @param values finite values, in order of time
   * @param level the largest p-value of a change point, such as 0.01
   * @param shuffles how often the values are shuffled for a test, such as 999; 1 / (shuffles + 1)
   *     is the smallest p-value
   * @param minimumLength fewest values on either side of a change point, at least two
   * @param seed seed of the shuffles
   */
  public static List<Cut> of(
      double[] values, double level, int shuffles, int minimumLength, long seed) {
    Checks.finite(values, "values");
    if (!(level > 0 && level < 1) || shuffles < 1 || minimumLength < 2) {
      throw new IllegalArgumentException(
          "level %s, %d shuffles, minimum length %d: a level is between 0 and 1, and at least one shuffle and a length of two are needed"
              .formatted(level, shuffles, minimumLength));
    }
    RandomGenerator random = Seeds.generator(seed);
    List<Cut> cuts = new ArrayList<>();
    List<Segment> segments =
        new ArrayList<>(List.of(segment(values, 0, values.length, minimumLength)));
    while (true) {
      Segment widest =
          segments.stream()
              .max(Comparator.comparingDouble(segment -> segment.best.difference))
              .orElseThrow();
      if (!(widest.best.difference > 0)) {
        break;
      }
      double pValue =
          pValue(values, segments, widest.best.difference, level, shuffles, minimumLength, random);
      if (pValue > level) {
        break;
      }
      int position = widest.best.position;
      cuts.add(new Cut(position, pValue));
      segments.remove(widest);
      segments.add(segment(values, widest.from, position, minimumLength));
      segments.add(segment(values, position, widest.to, minimumLength));
    }
    cuts.sort(Comparator.comparingInt(Cut::position));
    return List.copyOf(cuts);
  }

  /** The formula above from sums of distances, with mean |x − x'| = 2·sum / (m·(m − 1)). */
  private static double difference(int m, int l, double before, double after, double all) {
    double across = all - before - after;
    return 2 * (across - l * (before / (m - 1.0)) - m * (after / (l - 1.0))) / (m + l);
  }

  private static Segment segment(double[] values, int from, int to, int minimumLength) {
    return new Segment(from, to, best(values, from, to, minimumLength));
  }

  /** The p-value, or one above the level as soon as it is certain to be above. */
  private static double pValue(
      double[] values,
      List<Segment> segments,
      double observed,
      double level,
      int shuffles,
      int minimumLength,
      RandomGenerator random) {
    double[] shuffled = values.clone();
    // Sums that are equal but for rounding count as equal.
    double reached = observed * (1 - 1e-12);
    int asLarge = 1;
    for (int shuffle = 0; shuffle < shuffles; shuffle++) {
      boolean large = false;
      for (Segment segment : segments) {
        shuffle(shuffled, segment.from, segment.to, random);
        large =
            large || best(shuffled, segment.from, segment.to, minimumLength).difference >= reached;
      }
      asLarge += large ? 1 : 0;
      if (asLarge > level * (shuffles + 1)) {
        return 1;
      }
    }
    return (double) asLarge / (shuffles + 1);
  }

  static void shuffle(double[] values, int from, int to, RandomGenerator random) {
    for (int i = to - 1; i > from; i--) {
      int j = from + random.nextInt(i - from + 1);
      double value = values[i];
      values[i] = values[j];
      values[j] = value;
    }
  }

  /**
   * The cut of a segment with the largest difference, over all ends of the stretch after it. With
   * the sums of distances within {@code from…k} and {@code k…end} known, those across follow, so
   * that all pairs of k and end take O(n²) together.
   */
  static Split best(double[] values, int from, int to, int minimumLength) {
    int n = to - from;
    if (n < 2 * minimumLength) {
      return NONE;
    }
    double[] before = new double[n + 1];
    for (int k = 1; k < n; k++) {
      double distances = 0;
      for (int i = 0; i < k; i++) {
        distances += Math.abs(values[from + i] - values[from + k]);
      }
      before[k + 1] = before[k] + distances;
    }
    double[] after = new double[n + 1];
    int position = -1;
    double largest = Double.NEGATIVE_INFINITY;
    for (int k = n - 1; k >= minimumLength; k--) {
      double first = values[from + k];
      double distances = 0;
      for (int end = k + 1; end <= n; end++) {
        distances += Math.abs(values[from + end - 1] - first);
        after[end] += distances;
        int length = end - k;
        if (length >= minimumLength) {
          double difference = difference(k, length, before[k], after[end], before[end]);
          if (difference > largest) {
            largest = difference;
            position = from + k;
          }
        }
      }
    }
    return new Split(position, largest);
  }
}
