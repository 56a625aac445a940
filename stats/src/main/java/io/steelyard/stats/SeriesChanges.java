package io.steelyard.stats;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/**
 * The changes in a history: a series with one value a run, such as the throughput of each night's
 * build, oldest first.
 *
 * <p>It works on logarithms, so that a change is a share of what was before. Spikes are left out;
 * {@link EDivisive} proposes changes; least squares between the neighbouring changes says where
 * they are; each is tested by itself between its neighbours, and dropped where shuffled runs show
 * as large a difference, or where Welch's test finds a change of spread but none of mean; and what
 * a line explains better than steps do is a drift. {@code docs/statistics.md} has how often that is
 * right.
 */
public final class SeriesChanges {

  /**
   * The largest p-value of a change between its neighbours, of the shuffles and of Welch's test.
   */
  static final double LEVEL = 0.0005;

  private static final int SHUFFLES = 3999;

  /** The fewest runs on either side of a change; fewer are spikes, or not yet a change. */
  public static final int LEAST_RUNS = 5;

  /** The first search only proposes, so that it may be generous, and is then the faster. */
  private static final double FIRST_LEVEL = 0.05;

  private static final int FIRST_SHUFFLES = 199;

  /** A change within fewer runs than this is a step. */
  private static final int SHORTEST_DRIFT = 2 * LEAST_RUNS;

  /** What a step must save, in units of ln n times the noise variance, here and in PELT. */
  private static final double STEP_PRICE = 4;

  /** What a drift must save: less than two steps, for two steps are seldom so alike. */
  private static final double DRIFT_PRICE = 7;

  /** How far apart the two methods may put the same change. */
  private static final int SAME_PLACE = 2;

  /** Relative noise below this is rounding. */
  private static final double LEAST_NOISE = 1e-9;

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
   * @param before geometric mean of the runs between the last change and this one, spikes aside; of
   *     a drift, the value of the fitted line at its first run
   * @param after the same up to the next change; of a drift, the line at its last run
   * @param pValue the larger of the chance that shuffled runs show as large a change and the
   *     p-value of Welch's test of the two means
   * @param direction whether the change is for the better
   * @param foundByPelt whether {@link ChangePoints} has a change within two runs of it too (of a
   *     drift, anywhere in it)
   */
  public record Change(
      Kind kind,
      int position,
      double before,
      double after,
      double pValue,
      Direction direction,
      boolean foundByPelt) {

    /** The change as a share of the value before: 0.03 for 3 % more. */
    public double relativeSize() {
      return after / before - 1;
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
   * The changes of a series whose runs are known to be unequally sure. A run counts the less for
   * the means before and after the larger its variance, and no change is taken for surer than the
   * runs' variances allow.
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
    if (n < 2 * LEAST_RUNS) {
      return List.of();
    }
    Search search = new Search(logs, logVariances, higherIsBetter, seed);
    return search.logs.length < 2 * LEAST_RUNS ? List.of() : search.changes();
  }

  /** A cut with the p-value of its two tests. */
  private record Cut(int position, double pValue) {}

  /** The search in the logarithms of the runs that are no spikes. */
  private static final class Search {
    private final int[] runs;
    private final double[] logs;
    private final double[] variances;
    private final double[] weights;
    private final int[] peltStarts;
    private final boolean higherIsBetter;
    private final long seed;

    Search(double[] raw, double[] rawVariances, boolean higherIsBetter, long seed) {
      double noise = Math.max(LEAST_NOISE, ChangePoints.noiseOf(raw));
      runs = Spikes.without(raw, noise);
      logs = Arrays.stream(runs).mapToDouble(run -> raw[run]).toArray();
      variances = Arrays.stream(runs).mapToDouble(run -> rawVariances[run]).toArray();
      // What the runs' own errors leave unexplained is spread between runs, the same for all.
      double between =
          Math.max(LEAST_NOISE * LEAST_NOISE, noise * noise - Quantiles.median(variances));
      weights = Arrays.stream(variances).map(variance -> 1 / (between + variance)).toArray();
      peltStarts = ChangePoints.ofMean(logs, noise, STEP_PRICE * Math.log(logs.length), LEAST_RUNS);
      this.higherIsBetter = higherIsBetter;
      this.seed = seed;
    }

    List<Change> changes() {
      List<Cut> cuts = new ArrayList<>();
      for (EDivisive.Cut cut : EDivisive.of(logs, FIRST_LEVEL, FIRST_SHUFFLES, LEAST_RUNS, seed)) {
        cuts.add(new Cut(cut.position(), cut.pValue()));
      }
      while (true) {
        cuts = judge(place(cuts));
        int weakest = weakest(cuts);
        if (weakest < 0 || cuts.get(weakest).pValue <= LEVEL) {
          return describe(cuts);
        }
        cuts.remove(weakest);
      }
    }

    /** Moves each cut to where two means between its neighbours leave the least squares. */
    private List<Cut> place(List<Cut> cuts) {
      List<Cut> placed = new ArrayList<>(cuts);
      boolean moved = true;
      // Each move lowers the sum of squares, so that it ends; in practice after two rounds.
      while (moved) {
        moved = false;
        for (int i = 0; i < placed.size(); i++) {
          int from = start(placed, i);
          int to = end(placed, i);
          int best = placed.get(i).position;
          double least = stepSquares(from, best, to) * (1 - 1e-12);
          for (int at = from + LEAST_RUNS; at <= to - LEAST_RUNS; at++) {
            double squares = stepSquares(from, at, to);
            if (squares < least) {
              least = squares;
              best = at;
              moved = true;
            }
          }
          placed.set(i, new Cut(best, placed.get(i).pValue));
        }
      }
      return placed;
    }

    private List<Cut> judge(List<Cut> cuts) {
      RandomGenerator random = Seeds.generator(seed);
      List<Cut> judged = new ArrayList<>();
      for (int i = 0; i < cuts.size(); i++) {
        int position = cuts.get(i).position;
        double shuffled =
            EDivisive.pValueOfOne(logs, start(cuts, i), end(cuts, i), SHUFFLES, LEAST_RUNS, random);
        judged.add(new Cut(position, Math.max(shuffled, welch(cuts, i))));
      }
      return judged;
    }

    private double welch(List<Cut> cuts, int i) {
      Level before = before(cuts, i);
      Level after = after(cuts, i);
      double difference = before.mean - after.mean;
      return Welch.of(difference, before.variance, before.count, after.variance, after.count)
          .map(Welch::pValue)
          .orElse(difference == 0 ? 1.0 : 0.0);
    }

    private static int weakest(List<Cut> cuts) {
      return IntStream.range(0, cuts.size())
          .boxed()
          .max(Comparator.comparingDouble(i -> cuts.get(i).pValue))
          .orElse(-1);
    }

    private List<Change> describe(List<Cut> cuts) {
      List<Change> changes = new ArrayList<>();
      for (int first = 0, next; first < cuts.size(); first = next) {
        next = first + 1;
        while (next < cuts.size() && rises(cuts, next) == rises(cuts, first)) {
          next++;
        }
        // A long drift is cut into stairs; it is one drift.
        if (isDrift(cuts, first, next)) {
          changes.add(drift(cuts, first, next));
          continue;
        }
        for (int i = first; i < next; i++) {
          changes.add(isDrift(cuts, i, i + 1) ? drift(cuts, i, i + 1) : step(cuts, i));
        }
      }
      return List.copyOf(changes);
    }

    private boolean rises(List<Cut> cuts, int i) {
      return after(cuts, i).mean > before(cuts, i).mean;
    }

    /**
     * Whether a ramp explains a stretch better than its steps do. Both follow the noise the closer
     * the more of them there are, hence their prices.
     */
    private boolean isDrift(List<Cut> cuts, int first, int next) {
      int from = start(cuts, first);
      int to = end(cuts, next - 1);
      int n = to - from;
      if (n < SHORTEST_DRIFT) {
        return false;
      }
      double steps = squares(from, cuts.get(first).position);
      for (int i = first; i < next; i++) {
        steps += squares(cuts.get(i).position, end(cuts, i));
      }
      double ramp = ramp(from, to).squares();
      double more = DRIFT_PRICE - STEP_PRICE * (next - first);
      return n * Math.log(steps / ramp) > more * Math.log(n);
    }

    private Ramp ramp(int from, int to) {
      return Ramp.of(Arrays.copyOfRange(logs, from, to), SHORTEST_DRIFT);
    }

    private Change step(List<Cut> cuts, int i) {
      int position = cuts.get(i).position;
      return change(
          Kind.STEP,
          position,
          before(cuts, i).mean,
          after(cuts, i).mean,
          cuts.get(i).pValue,
          foundByPelt(position - SAME_PLACE, position + SAME_PLACE));
    }

    private Change drift(List<Cut> cuts, int first, int next) {
      int from = start(cuts, first);
      int to = end(cuts, next - 1);
      Ramp ramp = ramp(from, to);
      double pValue =
          cuts.subList(first, next).stream().mapToDouble(Cut::pValue).min().orElseThrow();
      return change(
          Kind.DRIFT,
          from + ramp.from(),
          ramp.before(),
          ramp.after(),
          pValue,
          foundByPelt(from + 1, to - 1));
    }

    private boolean foundByPelt(int from, int to) {
      return Arrays.stream(peltStarts).anyMatch(start -> start > 0 && from <= start && start <= to);
    }

    private Change change(
        Kind kind, int position, double before, double after, double pValue, boolean pelt) {
      Direction direction = after > before == higherIsBetter ? Direction.BETTER : Direction.WORSE;
      return new Change(
          kind, runs[position], Math.exp(before), Math.exp(after), pValue, direction, pelt);
    }

    private static int start(List<Cut> cuts, int i) {
      return i == 0 ? 0 : cuts.get(i - 1).position;
    }

    private int end(List<Cut> cuts, int i) {
      return i + 1 == cuts.size() ? logs.length : cuts.get(i + 1).position;
    }

    private double stepSquares(int from, int at, int to) {
      return squares(from, at) + squares(at, to);
    }

    private double squares(int from, int to) {
      return Moments.squaredDeviations(Arrays.copyOfRange(logs, from, to));
    }

    private record Level(double mean, double variance, int count) {}

    private Level before(List<Cut> cuts, int i) {
      return level(start(cuts, i), cuts.get(i).position);
    }

    private Level after(List<Cut> cuts, int i) {
      return level(cuts.get(i).position, end(cuts, i));
    }

    /** Weighted mean of a stretch, and the variance of that mean. */
    private Level level(int from, int to) {
      double total = 0;
      double sum = 0;
      double own = 0;
      double squaredWeights = 0;
      for (int i = from; i < to; i++) {
        total += weights[i];
        sum += weights[i] * logs[i];
        own += weights[i] * weights[i] * variances[i];
        squaredWeights += weights[i] * weights[i];
      }
      double mean = sum / total;
      double seen = 0;
      for (int i = from; i < to; i++) {
        double deviation = logs[i] - mean;
        seen += weights[i] * weights[i] * deviation * deviation;
      }
      // What the runs show, or what their own errors say, if that is more.
      double unbiased = seen / (total * total - squaredWeights);
      return new Level(mean, Math.max(unbiased, own / (total * total)), to - from);
    }
  }
}
