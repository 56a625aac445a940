package io.steelyard.stats;

import java.util.List;

/**
 * The changes in a history: a series with one value a run, such as the throughput of each night's
 * build, oldest first.
 *
 * <p>It works on logarithms, so that a change is a share of what was before. Spikes are left out;
 * {@link StepPosterior} weighs all ways to cut the series and proposes the places that more likely
 * than not have a change; each is then tested by itself between its neighbours, and dropped where
 * shuffled runs show as large a difference, or where Welch's test finds a change of spread but none
 * of mean; and what is better explained by a line than by steps is a drift. {@code
 * docs/statistics.md} has how often that is right.
 */
public final class SeriesChanges {

  /**
   * The largest p-value of a change between its neighbours, of the shuffles and of Welch's test.
   */
  static final double LEVEL = 0.002;

  /** The fewest runs on either side of a change; fewer are spikes, or not yet a change. */
  public static final int LEAST_RUNS = 5;

  /**
   * The fewest runs in which a change can be told: even if all of one half are above all of the
   * other, shuffling fewer would give as much by chance more often than allowed.
   */
  public static final int FEWEST_RUNS = fewestRuns();

  private SeriesChanges() {}

  /** How the values go from the level before to the one after. */
  public enum Kind {
    /** From one run to the next. */
    STEP,
    /** Little by little. */
    DRIFT
  }

  /** Where a change leads. */
  public enum Direction {
    BETTER,
    WORSE
  }

  /**
   * A change.
   *
   * @param kind whether it came at once
   * @param position of a step, the index of the first run after it; of a drift, of its first run
   * @param last of a step, the same; of a drift, the index of its last run
   * @param before geometric mean of the runs between the last change and this one, spikes aside; of
   *     a drift, the value of the fitted line at its first run
   * @param after the same up to the next change; of a drift, the line at its last run
   * @param ratio after over before with its 95 % interval, which takes the change's place for known
   * @param pValue the larger of the chance that shuffled runs show as large a change and the
   *     p-value of Welch's test of the two means
   * @param direction whether the change is for the better
   * @param foundByEDivisive whether {@link EDivisive} has a change within two runs of it too (of a
   *     drift, anywhere in it)
   * @param foundByPelt whether {@link ChangePoints} has one there
   */
  public record Change(
      Kind kind,
      int position,
      int last,
      double before,
      double after,
      Interval ratio,
      double pValue,
      Direction direction,
      boolean foundByEDivisive,
      boolean foundByPelt) {

    /** The change as a share of the value before: 0.03 for 3 % more. */
    public double relativeSize() {
      return ratio.estimate() - 1;
    }

    /** Whether it is for the worse, and by more than the change that matters. */
    public boolean alarms(double margin) {
      return direction == Direction.WORSE && Math.abs(relativeSize()) > margin;
    }
  }

  /**
   * The changes of a series, in order.
   *
   * @param values one value a run, oldest first, above 0
   * @param higherIsBetter true for rates, false for times and bytes
   * @param seed seed of the shuffles
   */
  public static List<Change> of(double[] values, boolean higherIsBetter, long seed) {
    return of(values, new double[values.length], higherIsBetter, seed);
  }

  /**
   * The changes of a series whose runs are known to be unequally sure. A run counts the less the
   * larger its variance, and no change is taken for surer than the runs' variances allow.
   *
   * @param values one value a run, oldest first, above 0
   * @param variances the square of each value's standard error, 0 or above
   * @param higherIsBetter true for rates, false for times and bytes
   * @param seed seed of the shuffles
   */
  public static List<Change> of(
      double[] values, double[] variances, boolean higherIsBetter, long seed) {
    Checks.positive(values, "values");
    Checks.finite(variances, "variances");
    if (variances.length != values.length) {
      throw new IllegalArgumentException(
          values.length + " values but " + variances.length + " variances; each run has one");
    }
    int n = values.length;
    double[] logs = new double[n];
    double[] logVariances = new double[n];
    for (int i = 0; i < n; i++) {
      logs[i] = Math.log(values[i]);
      if (variances[i] < 0) {
        throw new IllegalArgumentException(
            "variances[" + i + "] is " + variances[i] + "; a variance is not negative");
      }
      logVariances[i] = variances[i] / (values[i] * values[i]);
    }
    return n < FEWEST_RUNS
        ? List.of()
        : ChangeSearch.changes(logs, logVariances, higherIsBetter, seed);
  }

  private static int fewestRuns() {
    int runs = 2;
    double orders = 2; // Ways to choose which half of the runs are those below.
    while (2 / orders > LEVEL) {
      runs++;
      // C(n, ⌊n/2⌋) from C(n − 1, ⌊(n − 1)/2⌋).
      orders = orders * runs / (runs - runs / 2);
    }
    return runs;
  }
}
