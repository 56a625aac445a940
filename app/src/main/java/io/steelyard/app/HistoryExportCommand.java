package io.steelyard.app;

import io.steelyard.history.Export;
import io.steelyard.history.HistoryStore;
import io.steelyard.history.RunFilter;
import io.steelyard.history.StoredRun;
import io.steelyard.lab.RunException;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

@Command(
    name = "export",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = "Writes runs for other programs; all of them where none is named.",
    footer = {
      "",
      "Formats: csv (a row a cell), calls (CSV, a row a timed call), json (all that is kept).",
      "For Parquet, convert the CSV: duckdb -c \"COPY 'history.csv' TO 'history.parquet'\".",
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

  /** Says what to do where a format is wanted that isn't written. */
  static final class Formats implements ITypeConverter<Format> {
    @Override
    public Format convert(String text) {
      String name = text.toUpperCase(Locale.ROOT);
      if (name.equals("PARQUET")) {
        throw new TypeConversionException(
            "Parquet isn't written: export csv or calls, and convert that, as DuckDB does with"
                + " COPY 'history.csv' TO 'history.parquet'");
      }
      try {
        return Format.valueOf(name);
      } catch (IllegalArgumentException _) {
        throw new TypeConversionException("'" + text + "' is none of csv, calls and json");
      }
    }
  }

  @Mixin HistoryPlace history;

  @Parameters(
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      arity = "0..*",
      paramLabel = "RUN",
      description = "runs' numbers or names")
  List<String> runs = List.of();

  @Option(
      names = "--format",
      paramLabel = "NAME",
      defaultValue = "csv",
      converter = Formats.class,
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
        write(new Export(store), chosen);
      }
    }
    return ExitCode.FINE;
  }

  /** As a whole or not at all: what was there stays until all of it is written. */
  private void write(Export export, List<StoredRun> chosen) {
    // A pipe or a device is not to be replaced by a file.
    boolean replaces = Files.notExists(out) || Files.isRegularFile(out);
    Path target = replaces ? out.resolveSibling(out.getFileName() + ".part") : out;
    try {
      try (Writer writer = Files.newBufferedWriter(target)) {
        write(export, chosen, writer);
      }
      if (replaces) {
        Files.move(
            target, out, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      }
    } catch (IOException e) {
      throw new RunException(
          "can't write %s (%s): make room there or choose another place"
              .formatted(out, RunException.reason(e)),
          e);
    } finally {
      if (replaces) {
        discard(target);
      }
    }
  }

  private static void discard(Path part) {
    try {
      Files.deleteIfExists(part);
    } catch (IOException _) {
      // What went wrong before is what is told.
    }
  }

  private void write(Export export, List<StoredRun> chosen, Writer writer) throws IOException {
    switch (format) {
      case CSV -> export.cellsAsCsv(chosen, writer);
      case CALLS -> export.valuesAsCsv(chosen, writer);
      case JSON -> export.asJson(chosen, true, writer);
    }
  }
}
