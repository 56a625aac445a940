package io.steelyard.stats;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Single values far from all around them, so that what is left are levels and their noise.
 *
 * <p>Neighbours are three on each side, fewer near an end but the same number on both sides, so
 * that a step is no spike. The first and last two values have neighbours on one side only.
 */
final class Spikes {

  /** Standard deviations of the noise at which a value is no part of it. */
  static final double FAR = 4;

  private static final int REACH = 3;

  /** How many values at either end lack neighbours on one side. */
  private static final int END = 2;

  private Spikes() {}

  /** What counts as a spike among the two values at an end. */
  enum AtEnd {
    /** None: they are the very thing looked for. */
    NONE,
    /** Values far above the neighbours they have. */
    HIGH,
    /** Values far from the neighbours they have. */
    ANY
  }

  /**
   * The values with spikes replaced by the median of their neighbours.
   *
   * @param noise standard deviation of a value around its level
   * @param first the rule for the first two values
   * @param last the rule for the last two
   */
  static double[] replaced(double[] values, double noise, AtEnd first, AtEnd last) {
    double[] clean = values.clone();
    for (int i = 0; i < values.length; i++) {
      if (isSpike(values, i, noise, first, last)) {
        clean[i] = Quantiles.median(neighbours(values, i));
      }
    }
    return clean;
  }

  /**
   * The indices of the values that are no spikes, wherever they are. What stood between spikes is
   * looked at again without them, until none is left.
   */
  static int[] without(double[] values, double noise) {
    int[] kept = IntStream.range(0, values.length).toArray();
    while (true) {
      double[] left = Arrays.stream(kept).mapToDouble(i -> values[i]).toArray();
      int[] before = kept;
      kept =
          IntStream.range(0, left.length)
              .filter(i -> !isSpike(left, i, noise, AtEnd.ANY, AtEnd.ANY))
              .map(i -> before[i])
              .toArray();
      if (kept.length == before.length) {
        return kept;
      }
    }
  }

  private static boolean isSpike(double[] values, int i, double noise, AtEnd first, AtEnd last) {
    AtEnd rule = i < END ? first : i >= values.length - END ? last : AtEnd.ANY;
    double[] neighbours = neighbours(values, i);
    if (rule == AtEnd.NONE || neighbours.length == 0) {
      return false;
    }
    double distance = values[i] - Quantiles.median(neighbours);
    double far = FAR * Math.max(noise, Robust.deviation(neighbours));
    return distance > far || (rule == AtEnd.ANY && distance < -far);
  }

  private static double[] neighbours(double[] values, int i) {
    int n = values.length;
    int before;
    int after;
    if (i >= n - END) {
      before = Math.min(REACH, i);
      after = 0;
    } else if (i < END) {
      before = 0;
      after = Math.min(REACH, n - 1 - i);
    } else {
      before = Math.min(REACH, Math.min(i, n - 1 - i));
      after = before;
    }
    double[] neighbours = new double[before + after];
    System.arraycopy(values, i - before, neighbours, 0, before);
    System.arraycopy(values, i + 1, neighbours, before, after);
    return neighbours;
  }
}
