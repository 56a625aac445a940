package io.steelyard.app;

import io.steelyard.history.HistoryStore;
import io.steelyard.history.RunFilter;
import io.steelyard.history.StoredRun;
import io.steelyard.lab.record.Json;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "list",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = "Lists runs, the newest first.",
    footer = {"", "Example:", "  ./steelyard history list --source jmh -n 5"})
final class HistoryListCommand implements Callable<Integer> {
  @Mixin HistoryPlace history;

  @Option(
      names = {"-n", "--limit"},
      paramLabel = "N",
      defaultValue = "20",
      description = "at most so many")
  int limit;

  @Option(
      names = "--source",
      paramLabel = "NAME",
      description = "only those of steelyard, llama-bench, jmh, …")
  String source;

  @Option(
      names = {"-m", "--model"},
      paramLabel = "MODEL",
      description = "only those of this model")
  String model;

  @Option(names = "--json", description = "print one JSON document on stdout")
  boolean json;

  @Override
  public Integer call() {
    if (limit < 1) {
      throw new UsageException("--limit " + limit + " is out of range: it is at least 1");
    }
    Console console = new Console();
    try (HistoryStore store = history.open()) {
      List<StoredRun> runs =
          store.list(new RunFilter(Optional.ofNullable(source), Optional.ofNullable(model), limit));
      if (json) {
        console.result(Json.pretty(runs.stream().map(HistoryJson::object).toList()));
      } else if (runs.isEmpty()) {
        console.result(
            "No such run in %s: './steelyard history import' adds some.".formatted(store.place()));
      } else {
        console.table(HistoryTables.runs(runs, console.style()));
      }
    }
    return ExitCode.FINE;
  }
}
