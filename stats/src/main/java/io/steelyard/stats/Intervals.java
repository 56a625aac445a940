package io.steelyard.stats;

import java.util.Optional;

/**
 * Confidence intervals for the mean of a cell and for the ratio of two cells, both over forks.
 *
 * <p>Below {@value #MANY_FORKS} forks the interval is the wider of Student's t over the fork values
 * and the studentised hierarchical bootstrap; from there on it is the bootstrap. {@code
 * docs/statistics.md} says why, and how often such intervals cover the truth.
 *
 * <p>All methods give the same result for the same seed.
 */
public final class Intervals {

  /** The level of every interval that isn't part of a sequence of looks. */
  public static final double LEVEL = 0.95;

  /** From this many forks on the bootstrap stands alone. */
  public static final int MANY_FORKS = 30;

  static final int RESAMPLES = 10_000;

  private Intervals() {}

  /** The 95 % interval of a cell's mean; empty below two forks. */
  public static Optional<Interval> mean(Sample sample, long seed) {
    return mean(sample, LEVEL, seed);
  }

  /**
   * The interval of a cell's mean, around the mean of its fork means; empty below two forks.
   *
   * @param level such as 0.95, or what a {@link SequentialPlan} allows for this look
   * @param seed seed of the resampling
   */
  public static Optional<Interval> mean(Sample sample, double level, long seed) {
    return mean(sample, level, RESAMPLES, seed);
  }

  static Optional<Interval> mean(Sample sample, double level, int resamples, long seed) {
    return combined(sample.forkMeans(), sample::resampledForkMean, level, resamples, seed);
  }

  /** The 95 % interval of a ratio; see the overload with a level. */
  public static Optional<Interval> ratio(
      Sample subject, Sample baseline, boolean higherIsBetter, long seed) {
    return ratio(subject, baseline, higherIsBetter, LEVEL, seed);
  }

  /**
   * The interval of subject over baseline, turned so that above 1 the subject is better. Fork
   * <em>i</em> of both belongs to block <em>i</em>; the estimate is the geometric mean of the
   * blocks' ratios of fork means. Empty below two blocks.
   *
   * @param higherIsBetter true for rates, false for times and bytes
   * @param level such as 0.95, or what a {@link SequentialPlan} allows for this look
   * @param seed seed of the resampling
   * @throws IllegalArgumentException if the numbers of forks differ, or a value is not above 0
   */
  public static Optional<Interval> ratio(
      Sample subject, Sample baseline, boolean higherIsBetter, double level, long seed) {
    return ratio(subject, baseline, higherIsBetter, level, RESAMPLES, seed);
  }

  /** The 95 % interval of a ratio of metrics that have one value a fork. */
  public static Optional<Interval> ratio(
      double[] subject, double[] baseline, boolean higherIsBetter, long seed) {
    return ratio(subject, baseline, higherIsBetter, LEVEL, seed);
  }

  /** The interval of a ratio of metrics that have one value a fork. */
  public static Optional<Interval> ratio(
      double[] subject, double[] baseline, boolean higherIsBetter, double level, long seed) {
    return ratio(
        Sample.ofForks(subject), Sample.ofForks(baseline), higherIsBetter, level, RESAMPLES, seed);
  }

  static Optional<Interval> ratio(
      Sample subject,
      Sample baseline,
      boolean higherIsBetter,
      double level,
      int resamples,
      long seed) {
    if (subject.forks() != baseline.forks()) {
      throw new IllegalArgumentException(
          "the subject has %d forks and the baseline %d; a ratio is paired by block"
              .formatted(subject.forks(), baseline.forks()));
    }
    subject.requirePositive("subject");
    baseline.requirePositive("baseline");
    Sample above = higherIsBetter ? subject : baseline;
    Sample below = higherIsBetter ? baseline : subject;
    double[] logRatios = Sample.logRatios(above, below);
    StudentisedBootstrap.ForkDraw draw =
        (block, random) ->
            Math.log(
                above.resampledForkMean(block, random) / below.resampledForkMean(block, random));
    return combined(logRatios, draw, level, resamples, seed).map(Interval::exponential);
  }

  private static Optional<Interval> combined(
      double[] values, StudentisedBootstrap.ForkDraw draw, double level, int resamples, long seed) {
    Checks.level(level);
    if (values.length < 2) {
      return Optional.empty();
    }
    Interval student = StudentT.interval(values, level);
    Optional<Interval> bootstrap =
        StudentisedBootstrap.interval(values, draw, level, resamples, seed);
    if (values.length >= MANY_FORKS) {
      return bootstrap.or(() -> Optional.of(student));
    }
    return Optional.of(bootstrap.filter(b -> width(b) > width(student)).orElse(student));
  }

  private static double width(Interval interval) {
    return interval.high() - interval.low();
  }
}
