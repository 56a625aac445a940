package io.steelyard.app;

import io.steelyard.history.Export;
import io.steelyard.history.HistoryStore;
import io.steelyard.history.RunContents;
import io.steelyard.history.StoredRun;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "show",
    mixinStandardHelpOptions = true,
    description = "Shows one run with its figures.",
    footer = {"", "Example:", "  ./steelyard history show 12"})
final class HistoryShowCommand implements Callable<Integer> {
  @Mixin HistoryPlace history;

  @Parameters(paramLabel = "RUN", description = "a run's number or name")
  String run;

  @Option(names = "--json", description = "print one JSON document on stdout")
  boolean json;

  @Override
  public Integer call() throws IOException {
    Console console = new Console();
    try (HistoryStore store = history.open()) {
      StoredRun stored = store.find(run);
      if (json) {
        new Export(store).asJson(List.of(stored), false, HistoryJson.stdout());
        return ExitCode.FINE;
      }
      RunContents contents = store.show(stored);
      console.result(
          "%s, started %s".formatted(stored.name(), HistoryTables.time(stored.started())));
      console.result(
          "%s on %s"
              .formatted(
                  stored.model().name().isEmpty() ? stored.source() : stored.model().name(),
                  HistoryTables.processor(stored)));
      if (!stored.command().isEmpty()) {
        console.result(stored.command());
      }
      console.blank();
      console.table(HistoryTables.cells(contents, console.style()));
    }
    return ExitCode.FINE;
  }
}
