package io.steelyard.app;

import io.steelyard.history.Export;
import io.steelyard.history.HistoryStore;
import io.steelyard.history.RunFilter;
import io.steelyard.history.StoredRun;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "export",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = "Writes runs for other programs; all of them where none is named.",
    footer = {
      "",
      "Formats: csv (a row a cell), calls (CSV, a row a timed call), json (all that is kept).",
      "",
      "Example:",
      "  ./steelyard history export --format json --out history.json"
    })
final class HistoryExportCommand implements Callable<Integer> {
  /** What an export is written as. */
  enum Format {
    /** A row a cell. */
    CSV,
    /** A row a timed call. */
    CALLS,
    JSON
  }

  @Mixin HistoryPlace history;

  @Parameters(arity = "0..*", paramLabel = "RUN", description = "runs' numbers or names")
  List<String> runs = List.of();

  @Option(
      names = "--format",
      paramLabel = "NAME",
      defaultValue = "csv",
      description = "csv, calls or json")
  Format format;

  @Option(
      names = {"-o", "--out"},
      paramLabel = "FILE",
      description = "where to write; stdout where it is left out")
  Path out;

  @Override
  public Integer call() throws IOException {
    try (HistoryStore store = history.open()) {
      List<StoredRun> chosen =
          runs.isEmpty() ? store.list(RunFilter.all()) : runs.stream().map(store::find).toList();
      if (out == null) {
        write(new Export(store), chosen, HistoryJson.stdout());
      } else {
        try (Writer writer = Files.newBufferedWriter(out)) {
          write(new Export(store), chosen, writer);
        }
      }
    }
    return ExitCode.FINE;
  }

  private void write(Export export, List<StoredRun> chosen, Writer writer) throws IOException {
    switch (format) {
      case CSV -> export.cellsAsCsv(chosen, writer);
      case CALLS -> export.valuesAsCsv(chosen, writer);
      case JSON -> export.asJson(chosen, true, writer);
    }
  }
}
