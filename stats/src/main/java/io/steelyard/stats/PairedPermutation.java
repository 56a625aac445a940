package io.steelyard.stats;

import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * The paired permutation test, two-sided: if subject and baseline did not differ, each block's
 * difference could as well have had the other sign. Source: Fisher, "The Design of Experiments"
 * (1935), section 21.
 *
 * <p>Up to {@value #EXACT} blocks every choice of signs is counted, and the smallest p-value is
 * 2/2<sup>n</sup> ({@link MinimumForks#forLevel}); beyond, {@value #FLIPS} seeded random choices
 * are, with the observed one among them, so that the p-value is never 0.
 *
 * @param meanDifference mean of first less second
 * @param pValue share of the sign choices whose sum is at least as far from 0
 */
public record PairedPermutation(double meanDifference, double pValue) {

  /** Most blocks for which every choice of signs is counted. */
  public static final int EXACT = 20;

  private static final int FLIPS = 100_000;

  /**
   * Tests paired values; block <em>i</em> of both belongs together. For ratios, pass logarithms.
   *
   * @param seed seed of the random signs, used beyond {@value #EXACT} blocks
   * @return empty where there are no blocks
   */
  public static Optional<PairedPermutation> of(double[] first, double[] second, long seed) {
    Checks.finite(first, "first");
    Checks.finite(second, "second");
    if (first.length != second.length) {
      throw new IllegalArgumentException(
          "%d values against %d; a paired test needs one of each a block"
              .formatted(first.length, second.length));
    }
    int n = first.length;
    if (n == 0) {
      return Optional.empty();
    }
    double[] differences = new double[n];
    double sum = 0;
    double scale = 0;
    for (int i = 0; i < n; i++) {
      differences[i] = first[i] - second[i];
      sum += differences[i];
      scale += Math.abs(differences[i]);
    }
    // Sums that are equal but for rounding count as equal.
    double atLeast = Math.abs(sum) - 1e-12 * scale;
    double pValue = n <= EXACT ? exact(differences, atLeast) : sampled(differences, atLeast, seed);
    return Optional.of(new PairedPermutation(sum / n, pValue));
  }

  private static double exact(double[] differences, double atLeast) {
    int choices = 1 << differences.length;
    int far = 0;
    for (int signs = 0; signs < choices; signs++) {
      double sum = 0;
      for (int i = 0; i < differences.length; i++) {
        sum += (signs >> i & 1) == 0 ? differences[i] : -differences[i];
      }
      if (Math.abs(sum) >= atLeast) {
        far++;
      }
    }
    return (double) far / choices;
  }

  private static double sampled(double[] differences, double atLeast, long seed) {
    RandomGenerator random = Seeds.generator(seed);
    int far = 1;
    for (int flip = 1; flip < FLIPS; flip++) {
      double sum = 0;
      for (double difference : differences) {
        sum += random.nextBoolean() ? difference : -difference;
      }
      if (Math.abs(sum) >= atLeast) {
        far++;
      }
    }
    return (double) far / FLIPS;
  }
}
