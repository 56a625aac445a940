package io.steelyard.stats;

import java.util.Arrays;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * The studentised (bootstrap-t) interval for a mean over forks, resampled on both levels: forks
 * with replacement, then each drawn fork's trials with replacement.
 *
 * <p>Each resample gives t* = (mean* − mean) / (s* / √n); the interval is the mean minus the upper
 * and lower quantile of t*, times the standard error. Dividing by each resample's own spread is
 * what keeps it from being too narrow with few forks, and lets it follow a skewed distribution.
 * Source: Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 12; Davison and
 * Hinkley, "Bootstrap Methods and their Application" (1997), sections 3.8 and 5.2.
 */
final class StudentisedBootstrap {

  /** Draws a fork's value anew from its own trials. */
  @FunctionalInterface
  interface ForkDraw {
    double draw(int fork, RandomGenerator random);
  }

  private StudentisedBootstrap() {}

  /**
   * The interval, or empty where the forks don't carry one: where they are so few that resamples of
   * two forks alone fill a tail, or so many resamples have no spread that a bound would lie at
   * infinity.
   *
   * @param values one value a fork, at least two
   * @param draw a fork's value with its trials resampled
   * @param level confidence level
   * @param resamples number of resamples
   * @param seed seed of the resampling
   */
  static Optional<Interval> interval(
      double[] values, ForkDraw draw, double level, int resamples, long seed) {
    int n = values.length;
    double mean = Moments.mean(values);
    double standardError = Moments.standardDeviation(values) / Math.sqrt(n);
    double tail = (1 - level) / 2;
    if (standardError == 0 || twoForksAlone(n) >= tail) {
      return Optional.empty();
    }
    RandomGenerator random = Seeds.generator(seed);
    double[] studentised = new double[resamples];
    double[] drawn = new double[n];
    for (int resample = 0; resample < resamples; resample++) {
      int first = random.nextInt(n);
      drawn[0] = draw.draw(first, random);
      boolean oneFork = true;
      for (int i = 1; i < n; i++) {
        int fork = random.nextInt(n);
        oneFork &= fork == first;
        drawn[i] = draw.draw(fork, random);
      }
      studentised[resample] = studentise(drawn, mean, standardError, oneFork);
    }
    Arrays.sort(studentised);
    // The order statistics just outside the tails, so that too few resamples widen, never narrow.
    int outside = (int) Math.floor((resamples + 1) * tail);
    if (outside < 1) {
      return Optional.empty();
    }
    double low = mean - studentised[resamples - outside] * standardError;
    double high = mean - studentised[outside - 1] * standardError;
    return Double.isFinite(low) && Double.isFinite(high) && low <= high
        ? Optional.of(new Interval(mean, low, high, level))
        : Optional.empty();
  }

  /**
   * The chance that a resample draws from one given pair of forks only. Two forks that happen to
   * lie close together give such resamples next to no spread; were that to reach the tail, the
   * bound would tell how close they lie and nothing else.
   */
  private static double twoForksAlone(int n) {
    return (Math.pow(2, n) - 2) / Math.pow(n, n);
  }

  private static double studentise(
      double[] drawn, double mean, double standardError, boolean oneFork) {
    double drawnMean = Moments.mean(drawn);
    double drawnError = Moments.standardDeviation(drawn) / Math.sqrt(drawn.length);
    double difference = drawnMean - mean;
    // A resample without spread says only on which side it lies. So does one that drew the same
    // fork every time: its spread is that of trials alone, far too small to measure forks by.
    return !oneFork && drawnError > 1e-9 * standardError
        ? difference / drawnError
        : Math.copySign(Double.POSITIVE_INFINITY, difference);
  }
}
