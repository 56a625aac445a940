package io.steelyard.history;

import io.steelyard.stats.Interval;
import io.steelyard.stats.Intervals;
import io.steelyard.stats.Quantiles;
import io.steelyard.stats.SeriesChanges;
import io.steelyard.stats.SeriesChanges.Direction;
import io.steelyard.stats.SeriesChanges.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The changes in a trend: between which runs, from what to what, and whether for the better.
 *
 * @param changes the oldest first
 * @param obstacle why none could be looked for; empty where they were
 */
public record TrendChanges(List<Change> changes, Optional<String> obstacle) {
  /** Of the shuffles: the same history gives the same answer. */
  private static final long SEED = 1;

  public TrendChanges {
    changes = List.copyOf(changes);
  }

  /**
   * A change.
   *
   * @param kind whether it came at once or little by little
   * @param before index in the trend of the last run before it; of a drift, of its first run
   * @param after index of the first run after it; of a drift, of its last run
   * @param from level before, in the metric's unit
   * @param to level after
   * @param ratio how many times better it became, with its 95 % interval: turned so that above 1 is
   *     better; {@code to / from} where it isn't known whether more or less is
   * @param direction whether it is for the better; empty where that isn't known
   * @param pValue the chance of as large a change between two neighbouring changes without any
   * @param foundByEDivisive whether E-divisive alone sees it too
   * @param foundByPelt whether PELT alone sees it too
   */
  public record Change(
      Kind kind,
      int before,
      int after,
      double from,
      double to,
      Interval ratio,
      Optional<Direction> direction,
      double pValue,
      boolean foundByEDivisive,
      boolean foundByPelt) {

    /** Whether it is larger than a change that matters, such as 0.02. */
    public boolean exceeds(double margin) {
      return Math.abs(to / from - 1) > margin;
    }
  }

  /** Looks for changes. */
  public static TrendChanges of(Trend trend) {
    List<Trend.Point> points = trend.points();
    if (points.size() < SeriesChanges.FEWEST_RUNS) {
      return without(
          "a change can be told in no fewer than %d runs of equal hardware, weights and settings; there are %d"
              .formatted(SeriesChanges.FEWEST_RUNS, points.size()));
    }
    Optional<Trend.Point> notPositive =
        points.stream().filter(point -> !(point.mean() > 0)).findFirst();
    if (notPositive.isPresent()) {
      return without(
          "changes are shares of a value above 0, and run %d has %s"
              .formatted(notPositive.get().run(), notPositive.get().mean()));
    }
    boolean higher = !trend.series().better().equals("lower");
    boolean directed = higher ? trend.series().better().equals("higher") : true;
    double[] values = points.stream().mapToDouble(Trend.Point::mean).toArray();
    List<Change> changes = new ArrayList<>();
    for (SeriesChanges.Change found : SeriesChanges.of(values, variances(points), higher, SEED)) {
      changes.add(change(found, higher, directed));
    }
    return new TrendChanges(changes, Optional.empty());
  }

  private static TrendChanges without(String obstacle) {
    return new TrendChanges(List.of(), Optional.of(obstacle));
  }

  private static Change change(SeriesChanges.Change found, boolean higher, boolean directed) {
    boolean step = found.kind() == Kind.STEP;
    Interval rise = found.ratio();
    return new Change(
        found.kind(),
        step ? found.position() - 1 : found.position(),
        found.last(),
        found.before(),
        found.after(),
        higher
            ? rise
            : new Interval(1 / rise.estimate(), 1 / rise.high(), 1 / rise.low(), rise.level()),
        directed ? Optional.of(found.direction()) : Optional.empty(),
        found.pValue(),
        found.foundByEDivisive(),
        found.foundByPelt());
  }

  /** Squared standard errors; a run that doesn't say how sure it is counts like a middling one. */
  private static double[] variances(List<Trend.Point> points) {
    double[] known = points.stream().mapToDouble(TrendChanges::variance).toArray();
    double[] said = Arrays.stream(known).filter(Double::isFinite).toArray();
    double usual = said.length == 0 ? 0 : Quantiles.median(said);
    return Arrays.stream(known).map(value -> Double.isFinite(value) ? value : usual).toArray();
  }

  private static double variance(Trend.Point point) {
    // Another tool's run is one process, and its interval is over the trials in it.
    int values = point.forks() > 1 ? point.forks() : point.trials();
    if (point.low() == null || point.high() == null || values < 2) {
      return Double.NaN;
    }
    double error =
        new Interval(point.mean(), point.low(), point.high(), Intervals.LEVEL)
            .standardError(values);
    return error * error;
  }
}
