package io.steelyard.stats;

import java.util.Optional;

/**
 * How many trials a fork should have, so that a figure becomes precise in the least time: many
 * where trials scatter and forks are dear, few where it is the forks that differ.
 *
 * <p>Source: Kalibera and Jones, "Rigorous benchmarking in reasonable time", ISMM 2013, section 6:
 * the square root of what a fork costs over what a trial does, times the variance of trials over
 * that of forks.
 */
public final class TrialsPerFork {
  private TrialsPerFork() {}

  /**
   * The number of trials that pays most.
   *
   * @param subject forks so far, at least two
   * @param baseline as many forks, where the figure is the ratio of the two, paired by block
   * @param forkCost time of a fork without its trials, above 0
   * @param trialCost time of a trial, above 0
   * @param least the fewest trials
   * @param most the most; the answer where forks differ no more than their trials explain
   */
  public static int best(
      Sample subject,
      Optional<Sample> baseline,
      double forkCost,
      double trialCost,
      int least,
      int most) {
    if (!(forkCost > 0) || !(trialCost > 0) || least < 1 || most < least) {
      throw new IllegalArgumentException(
          "a fork costs %s and a trial %s, from %d to %d trials are wanted: all must be above 0"
              .formatted(forkCost, trialCost, least, most));
    }
    double within = square(subject.variationWithinForks());
    double explained = within * subject.forks() / subject.trials();
    double between;
    if (baseline.isPresent()) {
      double other = square(baseline.get().variationWithinForks());
      within += other;
      explained += other * baseline.get().forks() / baseline.get().trials();
      between = Moments.variance(Sample.logRatios(subject, baseline.get()));
    } else {
      between = square(subject.variationBetweenForks());
    }
    if (within == 0) {
      return least;
    }
    double forksAlone = between - explained;
    return forksAlone > 0
        ? (int)
            Math.clamp(
                Math.ceil(Math.sqrt(forkCost / trialCost * within / forksAlone)), least, most)
        : most;
  }

  private static double square(double value) {
    return value * value;
  }
}
