package io.steelyard.stats;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Change points of a mean by PELT (Killick, Fearnhead and Eckley, "Optimal detection of
 * changepoints with a linear computational cost", JASA 107 (2012)): the segmentation that minimises
 * the sum of squared deviations from the segments' means, in units of the noise variance, plus a
 * penalty for each change. The result is exact; pruning only saves time.
 */
public final class ChangePoints {

  private ChangePoints() {}

  /**
   * Starts of the segments, the first being 0.
   *
   * @param values at least one finite value, in order of time
   * @param noise standard deviation of a value around its segment's mean, above 0
   * @param penalty what a further change point must save, in units of the noise variance; the
   *     Schwarz criterion has 2·ln n
   * @param minimumLength fewest values of a segment other than the first, which may hold one
   */
  public static int[] ofMean(double[] values, double noise, double penalty, int minimumLength) {
    Checks.finite(values, "values");
    if (values.length == 0 || !(noise > 0) || !(penalty > 0) || minimumLength < 1) {
      throw new IllegalArgumentException(
          "%d values, noise %s, penalty %s, minimum length %d: all must be above 0"
              .formatted(values.length, noise, penalty, minimumLength));
    }
    int n = values.length;
    SegmentCost cost = new SegmentCost(values, noise);
    double[] best = new double[n + 1];
    int[] previous = new int[n + 1];
    Arrays.fill(best, Double.POSITIVE_INFINITY);
    best[0] = -penalty;
    List<Integer> candidates = new ArrayList<>(List.of(0));
    // The end at which a candidate was found beaten; it may still be needed for minimumLength more
    // ends, where the start that beats it is not allowed yet.
    int[] beatenAt = new int[n + 1];
    Arrays.fill(beatenAt, Integer.MAX_VALUE);
    for (int end = 1; end <= n; end++) {
      for (int start : candidates) {
        if (start > 0 && end - start < minimumLength) {
          continue;
        }
        double total = best[start] + cost.of(start, end) + penalty;
        if (total < best[end]) {
          best[end] = total;
          previous[end] = start;
        }
      }
      int now = end;
      for (int start : candidates) {
        boolean allowed = start == 0 || now - start >= minimumLength;
        if (allowed
            && beatenAt[start] == Integer.MAX_VALUE
            && best[start] + cost.of(start, now) > best[now]) {
          beatenAt[start] = now;
        }
      }
      candidates.removeIf(start -> beatenAt[start] <= now - minimumLength);
      if (Double.isFinite(best[end])) {
        candidates.add(end);
      }
    }
    List<Integer> starts = new ArrayList<>();
    for (int end = n; end > 0; end = previous[end]) {
      starts.add(previous[end]);
    }
    return starts.reversed().stream().mapToInt(Integer::intValue).toArray();
  }

  /**
   * The noise of a series whose mean changes rarely: the median absolute difference of neighbours,
   * scaled to the standard deviation of normal values. Steps and spikes hardly touch it.
   */
  static double noiseOf(double[] values) {
    double[] differences = new double[values.length - 1];
    for (int i = 0; i < differences.length; i++) {
      differences[i] = Math.abs(values[i + 1] - values[i]);
    }
    return Quantiles.median(differences) * Robust.MAD_TO_SD / Math.sqrt(2);
  }

  /** Squared deviations of a segment from its mean, in units of the noise variance, in O(1). */
  private static final class SegmentCost {
    private final double[] sums;
    private final double[] squares;
    private final double variance;

    SegmentCost(double[] values, double noise) {
      // Deviations from the overall median keep the sums small, and so exact enough.
      double centre = Quantiles.median(values);
      sums = new double[values.length + 1];
      squares = new double[values.length + 1];
      for (int i = 0; i < values.length; i++) {
        double deviation = values[i] - centre;
        sums[i + 1] = sums[i] + deviation;
        squares[i + 1] = squares[i] + deviation * deviation;
      }
      variance = noise * noise;
    }

    double of(int start, int end) {
      double sum = sums[end] - sums[start];
      double square = squares[end] - squares[start];
      return Math.max(0, square - sum * sum / (end - start)) / variance;
    }
  }
}
