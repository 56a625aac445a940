package io.steelyard.app;

import io.steelyard.history.HistoryStore;
import io.steelyard.history.Trend;
import io.steelyard.history.TrendQuery;
import io.steelyard.lab.record.Json;
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
      "Follows one metric over time, on equal hardware, with equal weights and settings.",
      "What is left open is that of the newest run that fits."
    },
    footer = {"", "Example:", "  ./steelyard history trend tg64 --label steelyard"})
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

  @Option(names = "--json", description = "print one JSON document on stdout")
  boolean json;

  @Override
  public Integer call() {
    Console console = new Console();
    try (HistoryStore store = history.open()) {
      Trend trend =
          store.trend(
              new TrendQuery(
                  metric,
                  Optional.ofNullable(label),
                  Optional.ofNullable(engine),
                  Optional.ofNullable(model),
                  Optional.ofNullable(hardware)));
      if (json) {
        console.result(Json.pretty(HistoryJson.object(trend)));
        return ExitCode.FINE;
      }
      Trend.Series series = trend.series();
      console.result(
          "%s of %s%s on %s"
              .formatted(
                  series.metric(),
                  series.label(),
                  series.model().isEmpty() ? "" : ", " + series.model(),
                  series.processor().isEmpty() ? series.hardware() : series.processor()));
      console.blank();
      console.table(HistoryTables.points(trend, console.style()));
      if (trend.elsewhere() > 0) {
        console.note(
            "%d other values fit, of other hardware, models, labels or settings: they are not comparable"
                .formatted(trend.elsewhere()));
      }
    }
    return ExitCode.FINE;
  }
}
