package io.steelyard.app;

import io.steelyard.history.Trend;
import io.steelyard.history.TrendChanges;
import io.steelyard.reports.TrendChart;
import io.steelyard.stats.SeriesChanges.Kind;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;

/** A trend with its changes as a chart. */
final class TrendView {
  private static final DateTimeFormatter DAY = format("yyyy-MM-dd");

  /** For runs of a few days, which would otherwise have the same name. */
  private static final DateTimeFormatter TIME = format("MM-dd HH:mm");

  private static final Duration FEW_DAYS = Duration.ofDays(3);

  private TrendView() {}

  private static DateTimeFormatter format(String pattern) {
    return DateTimeFormatter.ofPattern(pattern).withZone(ZoneId.systemDefault());
  }

  /** What is followed, in a line: {@code tg64 of steelyard, SmolLM2, on EPYC 7B13}. */
  static String title(Trend.Series series) {
    return "%s of %s%s on %s"
        .formatted(
            series.metric(),
            series.label(),
            series.model().isEmpty() ? "" : ", " + series.model(),
            series.processor().isEmpty() ? series.hardware() : series.processor());
  }

  static TrendChart chart(Trend trend, TrendChanges changes) {
    Trend.Series series = trend.series();
    Instant first = trend.points().getFirst().started();
    Instant last = trend.points().getLast().started();
    boolean few = Duration.between(first, last).compareTo(FEW_DAYS) < 0;
    DateTimeFormatter when = few ? TIME : DAY;
    return new TrendChart(
        title(series),
        "Each run's mean with its 95 % interval, and the levels between changes. "
            + HistoryTables.better(series),
        series.unit(),
        trend.points().stream()
            .map(
                point ->
                    new TrendChart.Point(
                        when.format(point.started()), point.mean(), point.low(), point.high()))
            .toList(),
        levels(trend, changes.changes()),
        changes.changes().stream()
            .map(change -> new TrendChart.Change(change.before(), change.after(), effect(change)))
            .toList());
  }

  /** From each change to the next; a drift has a line of its own. */
  private static List<TrendChart.Level> levels(Trend trend, List<TrendChanges.Change> changes) {
    List<TrendChart.Level> levels = new ArrayList<>();
    int from = 0;
    for (TrendChanges.Change change : changes) {
      levels.add(new TrendChart.Level(from, change.before(), change.from(), change.from()));
      if (change.kind() == Kind.DRIFT) {
        levels.add(
            new TrendChart.Level(change.before(), change.after(), change.from(), change.to()));
      }
      from = change.after();
    }
    if (!changes.isEmpty()) {
      double last = changes.getLast().to();
      levels.add(new TrendChart.Level(from, trend.points().size() - 1, last, last));
    }
    return levels;
  }

  static TrendChart.Effect effect(TrendChanges.Change change) {
    return change
        .direction()
        .map(
            direction ->
                switch (direction) {
                  case BETTER -> TrendChart.Effect.BETTER;
                  case WORSE -> TrendChart.Effect.WORSE;
                })
        .orElse(TrendChart.Effect.UNKNOWN);
  }
}
