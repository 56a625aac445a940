package io.steelyard.app;

import io.steelyard.history.HistoryStore;
import io.steelyard.history.Trend;
import io.steelyard.history.TrendChanges;
import io.steelyard.history.TrendQuery;
import io.steelyard.lab.record.Json;
import io.steelyard.reports.Plots;
import io.steelyard.reports.TrendChart;
import io.steelyard.reports.TrendText;
import io.steelyard.reports.terminal.Format;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "trend",
    mixinStandardHelpOptions = true,
    description = {
      "Follows one metric over time, on equal hardware, with equal weights and settings,",
      "and says between which runs it changed.",
      "What is left open is that of the newest run that fits."
    },
    footer = {
      "",
      "A change has lasted for at least five runs; spikes are none. How often that is right is in",
      "docs/statistics.md.",
      "",
      "Examples:",
      "  ./steelyard history trend tg64 --label steelyard",
      "  ./steelyard history trend tg64 --plot trend"
    })
final class HistoryTrendCommand implements Callable<Integer> {
  @Mixin HistoryPlace history;

  @Parameters(paramLabel = "METRIC", description = "such as pp512, tg64@d4096, coldstart")
  String metric;

  @Option(names = "--label", paramLabel = "LABEL", description = "only of this label")
  String label;

  @Option(names = "--engine", paramLabel = "NAME", description = "only of this engine")
  String engine;

  @Option(
      names = {"-m", "--model"},
      paramLabel = "MODEL",
      description = "only of this model")
  String model;

  @Option(
      names = "--hardware",
      paramLabel = "FINGERPRINT",
      description = "only on this hardware, as 'list --json' names it")
  String hardware;

  @Option(
      names = "--margin",
      paramLabel = "SHARE",
      defaultValue = "2%",
      converter = Converters.Share.class,
      description = "the change that matters")
  double margin;

  @Option(
      names = {"-n", "--limit"},
      paramLabel = "N",
      defaultValue = "20",
      description = "at most so many runs in the table; the changes are of all")
  int limit;

  @Option(
      names = "--plot",
      paramLabel = "FOLDER",
      description = "also draw it there, as trend.svg and trend.png")
  Path plot;

  @Option(names = "--json", description = "print one JSON document on stdout")
  boolean json;

  @Override
  public Integer call() throws IOException {
    if (limit < 1) {
      throw new UsageException("--limit " + limit + " is out of range: it is at least 1");
    }
    Console console = new Console();
    Trend trend;
    try (HistoryStore store = history.open()) {
      trend = store.trend(query());
    }
    TrendChanges changes = TrendChanges.of(trend);
    if (json) {
      console.result(Json.pretty(HistoryJson.object(trend, changes, margin)));
    } else {
      show(trend, changes, console);
    }
    return plot == null || draw(TrendView.chart(trend, changes), console)
        ? ExitCode.FINE
        : ExitCode.FAILED;
  }

  private TrendQuery query() {
    return new TrendQuery(
        metric,
        Optional.ofNullable(label),
        Optional.ofNullable(engine),
        Optional.ofNullable(model),
        Optional.ofNullable(hardware));
  }

  private void show(Trend trend, TrendChanges changes, Console console) {
    int runs = trend.points().size();
    console.result(TrendView.title(trend.series()));
    console.blank();
    if (runs > 1) {
      console.table(TrendText.render(TrendView.chart(trend, changes), console.style()));
      console.blank();
    }
    if (!changes.changes().isEmpty()) {
      console.table(HistoryTables.changes(trend, changes, margin, console.style()));
    } else {
      console.result(
          changes
              .obstacle()
              .map(obstacle -> "No changes are looked for: " + obstacle + ".")
              .orElse("No change in %s runs.".formatted(Format.count(runs))));
    }
    console.blank();
    console.table(HistoryTables.points(trend, limit, console.style()));
    if (runs > limit) {
      console.note(
          "the newest %d of %d runs; --limit shows more, --json all".formatted(limit, runs));
    }
    if (trend.elsewhere() > 0) {
      console.note(
          "%d other values fit, of other hardware, models, labels or settings: they are not comparable"
              .formatted(trend.elsewhere()));
    }
  }

  /** Whether it could be drawn. */
  private boolean draw(TrendChart chart, Console console) throws IOException {
    Plots.Result drawn = Plots.write(plot, chart);
    drawn.files().forEach(file -> console.note("written: " + file));
    drawn.problems().forEach(console::note);
    return drawn.problems().isEmpty();
  }
}
