package io.steelyard.stats;

import java.util.Arrays;
import java.util.Optional;

/**
 * How much the trials of a fork resemble the trial before them, and how many independent trials
 * they are worth.
 *
 * <p>With ρₖ the correlation of trials k apart, the mean of n trials varies as if there were n/τ
 * independent ones, with τ = 1 + 2·Σρₖ, the integrated autocorrelation time. The sum is Geyer's
 * initial positive sequence: pairs ρ₂ₘ + ρ₂ₘ₊₁ are added as long as they are positive, as those of
 * a reversible chain are; what follows is noise. Source: Geyer, "Practical Markov chain Monte
 * Carlo", Statistical Science 7 (1992), section 3.3.
 *
 * <p>The coefficients are taken around each fork's own mean, products summed over all forks. That
 * makes them too small by about τ/n: with n = 20 trials read a lag-1 coefficient of −0.05 as none.
 *
 * @param lagOne correlation of a trial with the next one in its fork
 * @param time τ in trials, at least 1: trials that alternate count as independent, not as more
 * @param trials all trials
 */
public record Autocorrelation(double lagOne, double time, int trials) {

  /** With fewer trials in a fork its own mean hides any correlation. */
  public static final int LEAST_TRIALS = 10;

  /** Independent trials that would make the mean as steady. */
  public double effectiveTrials() {
    return trials / time;
  }

  /**
   * The autocorrelation of trials within the forks of a sample.
   *
   * @return empty where a fork has fewer than {@value #LEAST_TRIALS} trials, or no fork any spread
   */
  public static Optional<Autocorrelation> withinForks(Sample sample) {
    double[][] forks = new double[sample.forks()][];
    for (int fork = 0; fork < forks.length; fork++) {
      forks[fork] = sample.fork(fork);
    }
    return of(forks);
  }

  /** The autocorrelation of one series; empty as for a sample of one fork. */
  public static Optional<Autocorrelation> of(double[] series) {
    Checks.finite(series, "series");
    return of(new double[][] {series.clone()});
  }

  private static Optional<Autocorrelation> of(double[][] forks) {
    int longest = 0;
    int trials = 0;
    double squares = 0;
    for (double[] fork : forks) {
      if (fork.length < LEAST_TRIALS) {
        return Optional.empty();
      }
      squares += Moments.squaredDeviations(fork);
      longest = Math.max(longest, fork.length);
      trials += fork.length;
    }
    if (squares == 0) {
      return Optional.empty();
    }
    double[][] deviations =
        Arrays.stream(forks).map(Autocorrelation::deviations).toArray(double[][]::new);
    double lagOne = coefficient(deviations, 1, squares);
    double pairs = 0;
    for (int lag = 0; lag < longest; lag += 2) {
      double pair =
          coefficient(deviations, lag, squares) + coefficient(deviations, lag + 1, squares);
      if (!(pair > 0)) {
        break;
      }
      pairs += pair;
    }
    return Optional.of(new Autocorrelation(lagOne, Math.max(1, 2 * pairs - 1), trials));
  }

  private static double[] deviations(double[] fork) {
    double mean = Moments.mean(fork);
    return Arrays.stream(fork).map(value -> value - mean).toArray();
  }

  /** Divided by the squares of all trials, however far the lag: the usual, biased estimate. */
  private static double coefficient(double[][] deviations, int lag, double squares) {
    double products = 0;
    for (double[] fork : deviations) {
      for (int i = 0; i + lag < fork.length; i++) {
        products += fork[i] * fork[i + lag];
      }
    }
    return products / squares;
  }
}
