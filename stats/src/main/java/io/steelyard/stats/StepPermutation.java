package io.steelyard.stats;

import java.util.Arrays;
import java.util.random.RandomGenerator;

/**
 * Whether a stretch of values has a step somewhere: how much one cut into two means lowers the sum
 * of squares at best, held against shuffles of the same values. The test is exact for values that
 * could as well have come in another order, whatever their distribution.
 */
final class StepPermutation {
  private StepPermutation() {}

  /**
   * The share of the shuffles, the stretch itself among them, in which a cut lowers the sum of
   * squares as much; each takes a time that grows with the length.
   *
   * @param values finite values, in order of time
   * @param from first value of the stretch
   * @param to after its last value
   * @param minimumLength fewest values on either side of a cut
   * @param shuffles how many; 1 / (shuffles + 1) is the smallest p-value
   */
  static double pValue(
      double[] values, int from, int to, int minimumLength, int shuffles, RandomGenerator random) {
    double[] stretch = Arrays.copyOfRange(values, from, to);
    double mean = Moments.mean(stretch);
    for (int i = 0; i < stretch.length; i++) {
      stretch[i] -= mean;
    }
    // Sums that are equal but for rounding count as equal.
    double reached = largestGain(stretch, minimumLength) * (1 - 1e-9);
    int asLarge = 1;
    for (int shuffle = 0; shuffle < shuffles; shuffle++) {
      EDivisive.shuffle(stretch, random);
      asLarge += largestGain(stretch, minimumLength) >= reached ? 1 : 0;
    }
    return (double) asLarge / (shuffles + 1);
  }

  /** With k deviations from the mean that sum to s before a cut, s²·n / (k·(n − k)). */
  private static double largestGain(double[] deviations, int minimumLength) {
    int n = deviations.length;
    double largest = 0;
    double sum = 0;
    for (int k = 1; k <= n - minimumLength; k++) {
      sum += deviations[k - 1];
      if (k >= minimumLength) {
        largest = Math.max(largest, sum * sum * n / (k * (double) (n - k)));
      }
    }
    return largest;
  }
}
