package io.steelyard.app;

import io.steelyard.history.HistoryStore;
import io.steelyard.history.RunComparison;
import io.steelyard.history.StoredRun;
import io.steelyard.lab.record.Json;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "compare",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = "Compares two runs, cell by cell.",
    footer = {
      "",
      "They were made at different times, and what the machine did in between is in the ratios:",
      "'compare' measures both sides in one run.",
      "",
      "Example:",
      "  ./steelyard history compare 12 11"
    })
final class HistoryCompareCommand implements Callable<Integer> {
  @Mixin HistoryPlace history;

  @Parameters(index = "0", paramLabel = "RUN", description = "a run's number or name")
  String run;

  @Parameters(index = "1", paramLabel = "BASELINE", description = "the run it is held against")
  String baseline;

  @Option(
      names = "--margin",
      paramLabel = "SHARE",
      defaultValue = "2%",
      converter = Converters.Share.class,
      description = "the change that matters")
  double margin;

  @Option(names = "--json", description = "print one JSON document on stdout")
  boolean json;

  @Override
  public Integer call() {
    Console console = new Console();
    try (HistoryStore store = history.open()) {
      RunComparison comparison = store.compare(store.find(run), store.find(baseline), margin);
      if (json) {
        console.result(Json.pretty(HistoryJson.object(comparison)));
        return ExitCode.FINE;
      }
      if (comparison.rows().isEmpty()) {
        console.result("The two runs have no cell in common.");
      } else {
        console.table(HistoryTables.comparison(comparison, console.style()));
        console.note(
            "The two were made at different times: what the machine did in between is in the ratios.");
      }
      only(console, comparison.subject(), comparison.onlySubject());
      only(console, comparison.baseline(), comparison.onlyBaseline());
    }
    return ExitCode.FINE;
  }

  private static void only(Console console, StoredRun run, List<String> cells) {
    if (!cells.isEmpty()) {
      console.note("only in %s: %s".formatted(run.name(), String.join("; ", cells)));
    }
  }
}
