package io.steelyard.stats;

import java.util.ArrayList;
import java.util.Arrays;
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

  /** A stretch without a change point inside, so far, and how much its shuffles differ at best. */
  private static final class Segment {
    final int from;
    final int to;
    final Split best;
    private final double[] shuffled;
    private final int minimumLength;
    private final RandomGenerator random;
    private final double[] differences;
    private int known;

    Segment(
        double[] values,
        int from,
        int to,
        int minimumLength,
        int shuffles,
        RandomGenerator random) {
      this.from = from;
      this.to = to;
      best = EDivisive.best(values, from, to, minimumLength);
      shuffled = Arrays.copyOfRange(values, from, to);
      this.minimumLength = minimumLength;
      this.random = random;
      differences = new double[shuffles];
    }

    /** The largest difference in a shuffle; each is made once, when it is first asked for. */
    double difference(int shuffle) {
      for (; known <= shuffle; known++) {
        shuffle(shuffled, random);
        differences[known] = EDivisive.best(shuffled, 0, shuffled.length, minimumLength).difference;
      }
      return differences[shuffle];
    }
  }

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
    RandomGenerator seeds = Seeds.generator(seed);
    List<Cut> cuts = new ArrayList<>();
    List<Segment> segments = new ArrayList<>();
    segments.add(new Segment(values, 0, values.length, minimumLength, shuffles, Seeds.next(seeds)));
    while (true) {
      Segment widest =
          segments.stream()
              .max(Comparator.comparingDouble(segment -> segment.best.difference))
              .orElseThrow();
      if (!(widest.best.difference > 0)) {
        break;
      }
      double pValue = pValue(segments, widest.best.difference, level, shuffles);
      if (pValue > level) {
        break;
      }
      int position = widest.best.position;
      cuts.add(new Cut(position, pValue));
      segments.remove(widest);
      segments.add(
          new Segment(values, widest.from, position, minimumLength, shuffles, Seeds.next(seeds)));
      segments.add(
          new Segment(values, position, widest.to, minimumLength, shuffles, Seeds.next(seeds)));
    }
    cuts.sort(Comparator.comparingInt(Cut::position));
    return List.copyOf(cuts);
  }

  /** The p-value, or one above the level as soon as it is certain to be above. */
  private static double pValue(
      List<Segment> segments, double observed, double level, int shuffles) {
    // Sums that are equal but for rounding count as equal.
    double reached = observed * (1 - 1e-9);
    int asLarge = 1;
    for (int i = 0; i < shuffles; i++) {
      int shuffle = i;
      asLarge +=
          segments.stream().anyMatch(segment -> segment.difference(shuffle) >= reached) ? 1 : 0;
      if (asLarge > level * (shuffles + 1)) {
        return 1;
      }
    }
    return (double) asLarge / (shuffles + 1);
  }

  static void shuffle(double[] values, RandomGenerator random) {
    for (int i = values.length - 1; i > 0; i--) {
      // Places differ in chance by less than n / 2³²; what avoids that takes longer.
      int j = (int) ((Integer.toUnsignedLong(random.nextInt()) * (i + 1)) >>> Integer.SIZE);
      double value = values[i];
      values[i] = values[j];
      values[j] = value;
    }
  }

  /**
   * The cut of a segment with the largest difference, over all ends of the stretch after it: O(n²)
   * pairs of a cut k and an end. With the sums of distances within {@code from…k} and {@code k…end}
   * known, those across follow; in these sums mean |x − x'| is 2·sum / (m·(m − 1)). All stretches
   * of a length are looked at together, which share no sum, and what lies at their ends is moved to
   * the index of their cut: such loops are compiled to vector instructions.
   */
  static Split best(double[] values, int from, int to, int minimumLength) {
    int n = to - from;
    if (n < 2 * minimumLength) {
      return NONE;
    }
    double[] x = Arrays.copyOfRange(values, from, to);
    double[] before = sumsBefore(x);
    double[] meanBefore = new double[n];
    double[] count = new double[n];
    double[] inverse = new double[n + 1];
    for (int i = 1; i <= n; i++) {
      inverse[i] = 1.0 / i;
    }
    for (int k = minimumLength; k < n; k++) {
      meanBefore[k] = before[k] * inverse[k - 1];
      count[k] = k;
    }
    double[] last = x.clone(); // The last value of a stretch,
    double[] all = Arrays.copyOfRange(before, 1, n + 1); // the sum before its end,
    double[] perValue = Arrays.copyOfRange(inverse, 1, n + 1); // and 1 / its end.
    double[] toFirst = new double[n]; // Distances of all of its values to its first one.
    double[] within = new double[n];
    double[] differences = new double[n];
    int position = -1;
    double largest = Double.NEGATIVE_INFINITY;
    for (int length = 2; length <= n - minimumLength; length++) {
      int cuts = n - length + 1;
      System.arraycopy(last, 1, last, 0, cuts);
      System.arraycopy(within, 1, within, 0, cuts);
      for (int k = 0; k < cuts; k++) {
        toFirst[k] += Math.abs(x[k] - last[k]);
        within[k] += toFirst[k];
      }
      System.arraycopy(all, 1, all, 0, cuts);
      System.arraycopy(perValue, 1, perValue, 0, cuts);
      if (length < minimumLength) {
        continue;
      }
      double perPair = inverse[length - 1];
      double size = length;
      for (int k = minimumLength; k < cuts; k++) {
        double across = all[k] - before[k] - within[k];
        double spread = size * meanBefore[k] + count[k] * within[k] * perPair;
        differences[k] = 2 * (across - spread) * perValue[k];
      }
      for (int k = minimumLength; k < cuts; k++) {
        if (differences[k] > largest) {
          largest = differences[k];
          position = from + k;
        }
      }
    }
    return new Split(position, largest);
  }

  /** At k: the sum of the distances of all pairs among the first k values. */
  private static double[] sumsBefore(double[] x) {
    double[] distances = new double[x.length];
    double[] sums = new double[x.length + 1];
    for (int k = 0; k < x.length; k++) {
      sums[k + 1] = sums[k] + distances[k];
      double value = x[k];
      for (int i = k + 1; i < x.length; i++) {
        distances[i] += Math.abs(value - x[i]);
      }
    }
    return sums;
  }
}
