package io.steelyard.app;

import io.steelyard.history.RunComparison;
import io.steelyard.history.RunContents;
import io.steelyard.history.RunRecord;
import io.steelyard.history.StoredRun;
import io.steelyard.history.Trend;
import io.steelyard.history.TrendChanges;
import io.steelyard.lab.record.Summary;
import io.steelyard.reports.TrendChart;
import io.steelyard.reports.TrendText;
import io.steelyard.reports.terminal.Format;
import io.steelyard.reports.terminal.Style;
import io.steelyard.reports.terminal.Table;
import io.steelyard.stats.SeriesChanges.Kind;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What the commands of {@code history} print for people. */
final class HistoryTables {
  private static final int DIGITS = 4;
  private static final int SHORT_COMMIT = 10;
  private static final int SHORT_FINGERPRINT = 12;
  private static final DateTimeFormatter MINUTES =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm").withZone(ZoneId.systemDefault());

  private HistoryTables() {}

  static String runs(List<StoredRun> runs, Style style) {
    Table table =
        new Table(style)
            .column("no.", Table.Align.RIGHT)
            .column("started", Table.Align.LEFT)
            .column("run", Table.Align.LEFT)
            .column("source", Table.Align.LEFT)
            .column("model", Table.Align.LEFT)
            .column("commit", Table.Align.LEFT)
            .column("processor", Table.Align.LEFT)
            .column("cells", Table.Align.RIGHT)
            .column("calls", Table.Align.RIGHT);
    for (StoredRun run : runs) {
      table.row(
          Long.toString(run.number()),
          unbroken(time(run.started())),
          run.name(),
          run.source(),
          model(run.model()),
          unbroken(commit(run.commit())),
          processor(run),
          Format.count(run.cells()),
          Format.count(run.trials()));
    }
    return table.render();
  }

  static String cells(RunContents contents, Style style) {
    Table table =
        new Table(style)
            .column("label", Table.Align.LEFT)
            .column("metric", Table.Align.LEFT)
            .column("mean", Table.Align.RIGHT)
            .column("95 % interval", Table.Align.LEFT)
            .column("unit", Table.Align.LEFT)
            .column("forks", Table.Align.RIGHT)
            .column("trials", Table.Align.RIGHT)
            .column("state", Table.Align.LEFT);
    for (RunContents.Cell cell : contents.cells()) {
      Summary.Cell f = cell.figures();
      table.row(
          f.label(),
          f.metric(),
          figure(f.mean()),
          interval(f.low(), f.high()),
          f.unit(),
          Format.count(f.forks()),
          Format.count(f.trials()),
          f.state());
    }
    return table.render();
  }

  /** Between which runs the changes lie, and what they come to. */
  static String changes(Trend trend, TrendChanges changes, double margin, Style style) {
    Table table =
        new Table(style)
            .column("", Table.Align.LEFT)
            .column("between", Table.Align.LEFT)
            .column("from", Table.Align.RIGHT)
            .column("to", Table.Align.RIGHT)
            .column("ratio", Table.Align.RIGHT)
            .column("95 % interval", Table.Align.LEFT)
            .column("verdict", Table.Align.LEFT);
    int number = 0;
    for (TrendChanges.Change change : changes.changes()) {
      number++;
      TrendChart.Effect effect = TrendView.effect(change);
      table.row(
          new Table.Cell(TrendText.mark(number, effect), TrendText.tone(effect)),
          Table.Cell.of(
              run(trend.points().get(change.before()))
                  + "\n"
                  + run(trend.points().get(change.after()))),
          Table.Cell.of(figure(change.from())),
          Table.Cell.of(figure(change.to())),
          Table.Cell.of(figure(change.ratio().estimate())),
          Table.Cell.of(interval(change.ratio().low(), change.ratio().high())),
          new Table.Cell(verdict(change, margin), TrendText.tone(effect)));
    }
    return table.render();
  }

  /** A run by number, date and commit. */
  private static String run(Trend.Point point) {
    String commit = commit(point.commit());
    return unbroken(
        "no. %d, %s%s"
            .formatted(point.run(), time(point.started()), commit.isEmpty() ? "" : ", " + commit));
  }

  /** {@code better}, {@code worse, a drift}, {@code better, within 2 %}. */
  static String verdict(TrendChanges.Change change, double margin) {
    List<String> said = new ArrayList<>();
    said.add(
        change
            .direction()
            .map(direction -> direction.name().toLowerCase(Locale.ROOT))
            .orElse(change.to() > change.from() ? "more" : "less"));
    if (change.kind() == Kind.DRIFT) {
      said.add("a drift");
    }
    if (!change.exceeds(margin)) {
      said.add("within " + Format.compact(100 * margin) + " %");
    }
    return String.join(", ", said);
  }

  /** Which way is better, as a sentence. */
  static String better(Trend.Series series) {
    return switch (series.better()) {
      case "higher" -> "More is better.";
      case "lower" -> "Less is better.";
      default -> "It isn't known whether more or less is better.";
    };
  }

  /**
   * The newest of a trend's runs.
   *
   * @param most how many
   */
  static String points(Trend trend, int most, Style style) {
    Table table =
        new Table(style)
            .column("no.", Table.Align.RIGHT)
            .column("started", Table.Align.LEFT)
            .column("commit", Table.Align.LEFT)
            .column(trend.series().unit(), Table.Align.RIGHT)
            .column("95 % interval", Table.Align.LEFT)
            .column("against the one before", Table.Align.RIGHT)
            .column("state", Table.Align.LEFT);
    List<Trend.Point> points = trend.points();
    int first = Math.max(0, points.size() - most);
    double before = first == 0 ? Double.NaN : points.get(first - 1).mean();
    for (Trend.Point point : points.subList(first, points.size())) {
      double change = point.mean() / before - 1;
      table.row(
          Long.toString(point.run()),
          unbroken(time(point.started())),
          unbroken(commit(point.commit())),
          figure(point.mean()),
          interval(point.low(), point.high()),
          Double.isFinite(change) ? (change > 0 ? "+" : "") + Format.percent(change, 1) : "",
          point.state());
      before = point.mean();
    }
    return table.render();
  }

  static String comparison(RunComparison comparison, Style style) {
    Table table =
        new Table(style)
            .column("label", Table.Align.LEFT)
            .column("metric", Table.Align.LEFT)
            .column(comparison.subject().name(), Table.Align.RIGHT)
            .column(comparison.baseline().name(), Table.Align.RIGHT)
            .column("unit", Table.Align.LEFT)
            .column("ratio", Table.Align.RIGHT)
            .column("95 % interval", Table.Align.LEFT)
            .column("verdict", Table.Align.LEFT);
    for (RunComparison.Row row : comparison.rows()) {
      table.row(
          row.label(),
          row.metric(),
          figure(row.subject()),
          figure(row.baseline()),
          row.unit(),
          figure(row.ratio()),
          interval(row.low(), row.high()),
          row.note().isEmpty() ? row.verdict() : row.verdict() + ": " + row.note());
    }
    return table.render();
  }

  static String processor(StoredRun run) {
    return run.hardware()
        .map(
            name ->
                run.processor().isEmpty() ? name.substring(0, SHORT_FINGERPRINT) : run.processor())
        .orElse("not known");
  }

  /** In one line also where its column is narrow. */
  private static String unbroken(String text) {
    return text.replace(' ', Table.NO_BREAK);
  }

  static String time(Instant instant) {
    return MINUTES.format(instant);
  }

  static String commit(RunRecord.Commit commit) {
    String id = commit.id().substring(0, Math.min(commit.id().length(), SHORT_COMMIT));
    return commit.dirty().orElse(false) ? id + " +" : id;
  }

  private static String model(RunRecord.Model model) {
    return model.weights().equals("random") ? model.name() + " (random weights)" : model.name();
  }

  private static String figure(Double value) {
    return value == null ? "–" : Format.significant(value, DIGITS);
  }

  private static String interval(Double low, Double high) {
    return low == null || high == null ? "–" : figure(low) + " … " + figure(high);
  }
}
