package io.steelyard.stats;

import io.steelyard.stats.SeriesChanges.Change;
import io.steelyard.stats.SeriesChanges.Direction;
import io.steelyard.stats.SeriesChanges.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/** One search for {@link SeriesChanges}, in the logarithms of the runs that are no spikes. */
final class ChangeSearch {
  private static final int LEAST_RUNS = SeriesChanges.LEAST_RUNS;

  private static final int SHUFFLES = 3999;

  /** A change within fewer runs than this is a step. */
  private static final int SHORTEST_DRIFT = 2 * LEAST_RUNS;

  /** What a change must save in PELT, in units of ln n times the noise variance. */
  private static final double STEP_PRICE = 4;

  /** E-divisive's own level and shuffles, where it is only asked for its opinion. */
  private static final double SECOND_LEVEL = 0.05;

  private static final int SECOND_SHUFFLES = 99;

  /** How far apart two methods may put the same change. */
  private static final int SAME_PLACE = StepPosterior.NEAR;

  /** Relative noise below this is rounding. */
  private static final double LEAST_NOISE = 1e-9;

  /** Noise below this share of the range would drown in rounding when squared. */
  private static final double LEAST_SHARE = 1e-6;

  private final int[] runs;
  private final double[] logs;
  private final double[] variances;
  private final double leastNoise;
  private final double noise;
  private final double[] weights;
  private final StepPosterior posterior;
  private final boolean higherIsBetter;
  private final long seed;

  /** A cut with the p-value of its two tests. */
  private record Cut(int position, double pValue) {}

  /** A stretch's mean, the variance of that mean, and how many runs are behind it. */
  private record Level(double mean, double variance, int count) {}

  /** Where the two other methods see changes. */
  private record Others(int[] eDivisive, int[] pelt) {}

  private ChangeSearch(
      int[] runs,
      double[] raw,
      double[] rawVariances,
      double rough,
      boolean higherIsBetter,
      long seed) {
    this.runs = runs;
    logs = Arrays.stream(runs).mapToDouble(run -> raw[run]).toArray();
    variances = Arrays.stream(runs).mapToDouble(run -> rawVariances[run]).toArray();
    this.higherIsBetter = higherIsBetter;
    this.seed = seed;
    double range =
        Arrays.stream(logs).max().orElseThrow() - Arrays.stream(logs).min().orElseThrow();
    leastNoise = Math.max(LEAST_NOISE, LEAST_SHARE * range);
    // Deviations from the levels tell the noise better than neighbours' differences do.
    List<Integer> first = StepPosterior.of(logs, weights(rough), LEAST_RUNS).places();
    noise = noiseAround(first);
    weights = weights(noise);
    posterior = StepPosterior.of(logs, weights, LEAST_RUNS);
  }

  /**
   * The changes of a series of logarithms.
   *
   * @param raw one value a run
   * @param variances the square of each value's standard error
   */
  static List<Change> changes(double[] raw, double[] variances, boolean higherIsBetter, long seed) {
    double noise = Math.max(LEAST_NOISE, ChangePoints.noiseOf(raw));
    int[] runs = Spikes.without(raw, noise);
    return runs.length < 2 * LEAST_RUNS
        ? List.of()
        : new ChangeSearch(runs, raw, variances, noise, higherIsBetter, seed).changes();
  }

  /** What the runs' own errors leave unexplained is spread between runs, the same for all. */
  private double[] weights(double deviation) {
    double between =
        Math.max(leastNoise * leastNoise, deviation * deviation - Quantiles.median(variances));
    return Arrays.stream(variances).map(variance -> 1 / (between + variance)).toArray();
  }

  private double noiseAround(List<Integer> places) {
    double squares = 0;
    int from = 0;
    for (int i = 0; i <= places.size(); i++) {
      int to = i == places.size() ? logs.length : places.get(i);
      squares += Moments.squaredDeviations(Arrays.copyOfRange(logs, from, to));
      from = to;
    }
    return Math.max(leastNoise, Math.sqrt(squares / (logs.length - places.size() - 1)));
  }

  private List<Change> changes() {
    List<Cut> cuts = new ArrayList<>();
    posterior.places().forEach(place -> cuts.add(new Cut(place, 1)));
    for (int i = 0; i < cuts.size(); i++) {
      judge(cuts, i);
    }
    while (true) {
      int weakest = weakest(cuts);
      if (weakest < 0 || cuts.get(weakest).pValue <= SeriesChanges.LEVEL) {
        return cuts.isEmpty() ? List.of() : describe(cuts);
      }
      cuts.remove(weakest);
      // Only the neighbours' stretches have become longer.
      for (int i = Math.max(0, weakest - 1); i < Math.min(weakest + 1, cuts.size()); i++) {
        judge(cuts, i);
      }
    }
  }

  private void judge(List<Cut> cuts, int i) {
    double shuffled =
        StepPermutation.pValue(
            logs, start(cuts, i), end(cuts, i), LEAST_RUNS, SHUFFLES, Seeds.generator(seed));
    cuts.set(i, new Cut(cuts.get(i).position, Math.max(shuffled, welch(cuts, i))));
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
    Others others =
        new Others(
            EDivisive.of(logs, SECOND_LEVEL, SECOND_SHUFFLES, LEAST_RUNS, seed).stream()
                .mapToInt(EDivisive.Cut::position)
                .toArray(),
            ChangePoints.ofMean(logs, noise, STEP_PRICE * Math.log(logs.length), LEAST_RUNS));
    List<Change> changes = new ArrayList<>();
    for (int first = 0, next; first < cuts.size(); first = next) {
      next = first + 1;
      while (next < cuts.size() && rises(cuts, next) == rises(cuts, first)) {
        next++;
      }
      // A long drift is cut into stairs; it is one drift.
      if (isDrift(cuts, first, next)) {
        changes.add(drift(cuts, first, next, others));
        continue;
      }
      for (int i = first; i < next; i++) {
        changes.add(
            isDrift(cuts, i, i + 1) ? drift(cuts, i, i + 1, others) : step(cuts, i, others));
      }
    }
    return List.copyOf(changes);
  }

  private boolean rises(List<Cut> cuts, int i) {
    return after(cuts, i).mean > before(cuts, i).mean;
  }

  /** Whether a line explains a stretch better than steps do. */
  private boolean isDrift(List<Cut> cuts, int first, int next) {
    int from = start(cuts, first);
    int to = end(cuts, next - 1);
    return to - from >= SHORTEST_DRIFT
        && posterior.drift(from, to, SHORTEST_DRIFT) > posterior.steps(from, to);
  }

  private Change step(List<Cut> cuts, int i, Others others) {
    int position = cuts.get(i).position;
    Level before = before(cuts, i);
    Level after = after(cuts, i);
    Interval rise =
        Welch.interval(
            after.mean - before.mean,
            after.variance,
            after.count,
            before.variance,
            before.count,
            Intervals.LEVEL);
    return change(
        Kind.STEP,
        position,
        position,
        before.mean,
        rise,
        cuts.get(i).pValue,
        others,
        position - SAME_PLACE,
        position + SAME_PLACE);
  }

  private Change drift(List<Cut> cuts, int first, int next, Others others) {
    int from = start(cuts, first);
    int to = end(cuts, next - 1);
    Ramp ramp = Ramp.of(Arrays.copyOfRange(logs, from, to), SHORTEST_DRIFT);
    double pValue = cuts.subList(first, next).stream().mapToDouble(Cut::pValue).min().orElseThrow();
    return change(
        Kind.DRIFT,
        from + ramp.from(),
        from + ramp.to() - 1,
        ramp.before(),
        ramp.rise(Intervals.LEVEL),
        pValue,
        others,
        from + 1,
        to - 1);
  }

  private Change change(
      Kind kind,
      int position,
      int last,
      double before,
      Interval rise,
      double pValue,
      Others others,
      int nearFrom,
      int nearTo) {
    return new Change(
        kind,
        runs[position],
        runs[last],
        Math.exp(before),
        Math.exp(before + rise.estimate()),
        rise.exponential(),
        pValue,
        rise.estimate() > 0 == higherIsBetter ? Direction.BETTER : Direction.WORSE,
        anyWithin(others.eDivisive, nearFrom, nearTo),
        anyWithin(others.pelt, nearFrom, nearTo));
  }

  private static boolean anyWithin(int[] starts, int from, int to) {
    return Arrays.stream(starts).anyMatch(start -> start > 0 && from <= start && start <= to);
  }

  private static int start(List<Cut> cuts, int i) {
    return i == 0 ? 0 : cuts.get(i - 1).position;
  }

  private int end(List<Cut> cuts, int i) {
    return i + 1 == cuts.size() ? logs.length : cuts.get(i + 1).position;
  }

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
