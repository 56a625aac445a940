package io.steelyard.app;

import io.steelyard.history.RunComparison;
import io.steelyard.history.RunContents;
import io.steelyard.history.RunRecord;
import io.steelyard.history.StoredRun;
import io.steelyard.history.Trend;
import io.steelyard.lab.record.Summary;
import io.steelyard.reports.terminal.Format;
import io.steelyard.reports.terminal.Style;
import io.steelyard.reports.terminal.Table;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;

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

  static String points(Trend trend, Style style) {
    Table table =
        new Table(style)
            .column("no.", Table.Align.RIGHT)
            .column("started", Table.Align.LEFT)
            .column("commit", Table.Align.LEFT)
            .column(trend.series().unit(), Table.Align.RIGHT)
            .column("95 % interval", Table.Align.LEFT)
            .column("against the one before", Table.Align.RIGHT)
            .column("state", Table.Align.LEFT);
    double before = Double.NaN;
    for (Trend.Point point : trend.points()) {
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
