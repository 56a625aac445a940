package io.steelyard.app;

import io.steelyard.history.Export;
import io.steelyard.history.HistoryStore;
import io.steelyard.history.PruneRule;
import io.steelyard.history.RunComparison;
import io.steelyard.history.RunContents;
import io.steelyard.history.RunFilter;
import io.steelyard.history.RunReader;
import io.steelyard.history.RunRecord;
import io.steelyard.history.StoredRun;
import io.steelyard.history.Trend;
import io.steelyard.history.TrendQuery;
import io.steelyard.history.imports.Importers;
import io.steelyard.lab.environment.Environment;
import io.steelyard.lab.record.Json;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "history",
    mixinStandardHelpOptions = true,
    description = "The runs that were kept: list, look into, follow, compare, bring in, take out.",
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "Examples:",
      "  ./steelyard history import runs/2026-01-31_120000-compare",
      "  ./steelyard history import --here llama-bench.json",
      "  ./steelyard history list",
      "  ./steelyard history trend tg64 --label steelyard",
      "  ./steelyard history compare 12 11"
    },
    subcommands = {
      HistoryCommand.ListRuns.class,
      HistoryCommand.Show.class,
      HistoryCommand.Follow.class,
      HistoryCommand.Compare.class,
      HistoryCommand.Import.class,
      HistoryCommand.ExportRuns.class,
      HistoryCommand.Prune.class
    })
final class HistoryCommand {

  @Command(
      name = "list",
      mixinStandardHelpOptions = true,
      showDefaultValues = true,
      description = "Lists runs, the newest first.",
      footer = {"", "Example:", "  ./steelyard history list --source jmh -n 5"})
  static final class ListRuns implements Callable<Integer> {
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
            store.list(
                new RunFilter(Optional.ofNullable(source), Optional.ofNullable(model), limit));
        if (json) {
          console.result(Json.pretty(runs.stream().map(HistoryCommand::object).toList()));
        } else if (runs.isEmpty()) {
          console.result(
              "No such run in %s: './steelyard history import' adds some."
                  .formatted(store.place()));
        } else {
          console.table(HistoryTables.runs(runs, console.style()));
        }
      }
      return ExitCode.FINE;
    }
  }

  @Command(
      name = "show",
      mixinStandardHelpOptions = true,
      description = "Shows one run with its figures.",
      footer = {"", "Example:", "  ./steelyard history show 12"})
  static final class Show implements Callable<Integer> {
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
          new Export(store).asJson(List.of(stored), false, stdout());
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

  @Command(
      name = "trend",
      mixinStandardHelpOptions = true,
      description = {
        "Follows one metric over time, on equal hardware, with equal weights and settings.",
        "What is left open is that of the newest run that fits."
      },
      footer = {"", "Example:", "  ./steelyard history trend tg64 --label steelyard"})
  static final class Follow implements Callable<Integer> {
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
          console.result(Json.pretty(object(trend)));
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

  @Command(
      name = "compare",
      mixinStandardHelpOptions = true,
      showDefaultValues = true,
      description = "Compares two runs, cell by cell.",
      footer = {
        "",
        "They were made at different times, and what the machine did in between is in the ratios:",
        "'./steelyard compare' measures both sides in one run.",
        "",
        "Example:",
        "  ./steelyard history compare 12 11"
      })
  static final class Compare implements Callable<Integer> {
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
          console.result(Json.pretty(object(comparison)));
          return ExitCode.FINE;
        }
        if (comparison.rows().isEmpty()) {
          console.result("The two runs have no cell in common.");
        } else {
          console.table(HistoryTables.comparison(comparison, console.style()));
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

  @Command(
      name = "import",
      mixinStandardHelpOptions = true,
      showDefaultValues = true,
      description = "Adds run directories, and files that other benchmark tools have written.",
      footer = {
        "",
        "Formats: llama-bench-json, -jsonl, -csv, -sql and -md; jmh; hyperfine; pytest-benchmark;",
        "google-benchmark; vllm (benchmark_serving). All are JSON where nothing else is said.",
        "",
        "Examples:",
        "  ./steelyard history import runs/*",
        "  ./steelyard history import --here --format hyperfine times.json"
      })
  static final class Import implements Callable<Integer> {
    @Mixin HistoryPlace history;

    @Parameters(
        arity = "1..*",
        paramLabel = "FILE",
        description = "files, or run directories of Steelyard")
    List<Path> files;

    @Option(
        names = "--format",
        paramLabel = "NAME",
        defaultValue = "auto",
        description = "the files' format; auto: told by their first lines")
    String format;

    @ArgGroup Machine machine;

    /** On what the files were made, which most don't say well enough. */
    static final class Machine {
      @Option(names = "--here", description = "the files were made on this machine")
      boolean here;

      @Option(
          names = "--machine",
          paramLabel = "NAME",
          description = "the files were made on a machine that you call so")
      String name;
    }

    @Override
    public Integer call() {
      Console console = new Console();
      List<RunRecord> runs = new ArrayList<>();
      files.forEach(file -> runs.addAll(read(file)));
      // All are read before the first is written.
      try (HistoryStore store = history.open()) {
        for (RunRecord run : runs) {
          String said =
              switch (store.add(run)) {
                case ADDED -> "added";
                case REPLACED -> "added again, with what came to it since";
                case ALREADY_THERE -> "is there already";
              };
          console.result("%s: %s (%d cells)".formatted(run.name(), said, run.cells().size()));
        }
      }
      return ExitCode.FINE;
    }

    private List<RunRecord> read(Path file) {
      if (Files.isDirectory(file)) {
        return List.of(RunReader.read(file));
      }
      List<RunRecord> read =
          format.equals("auto") ? Importers.read(file) : Importers.of(format).read(file);
      return machine == null ? read : read.stream().map(run -> run.on(hardware(machine))).toList();
    }

    private static Map<String, Object> hardware(Machine machine) {
      if (!machine.here) {
        return Map.of("name", machine.name);
      }
      Map<String, Object> hardware = new LinkedHashMap<>();
      if (Environment.read(Home.path()).get("hardware") instanceof Map<?, ?> present) {
        present.forEach((key, value) -> hardware.put(key.toString(), value));
      }
      return hardware;
    }
  }

  /** What an export is written as. */
  enum Format {
    /** A row a cell. */
    CSV,
    /** A row a timed call. */
    CALLS,
    JSON
  }

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
  static final class ExportRuns implements Callable<Integer> {
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
          write(new Export(store), chosen, stdout());
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

  @Command(
      name = "prune",
      mixinStandardHelpOptions = true,
      description = {
        "Removes old runs from the history; their directories stay.",
        "Without --yes it only says which."
      },
      footer = {"", "Example:", "  ./steelyard history prune --keep 100 --yes"})
  static final class Prune implements Callable<Integer> {
    @Mixin HistoryPlace history;

    @ArgGroup(multiplicity = "1")
    Rule rule;

    @Option(names = "--yes", description = "remove them")
    boolean yes;

    /** Which are to go. */
    static final class Rule {
      @Option(names = "--keep", paramLabel = "N", description = "all but the newest N")
      Integer keep;

      @Option(names = "--older-than", paramLabel = "DAYS", description = "those of before then")
      Integer days;
    }

    @Override
    public Integer call() {
      Console console = new Console();
      try (HistoryStore store = history.open()) {
        List<StoredRun> old = store.prunable(rule());
        if (old.isEmpty()) {
          console.result("Nothing to remove.");
        } else if (yes) {
          console.result("%d runs removed.".formatted(store.remove(old)));
        } else {
          console.table(HistoryTables.runs(old, console.style()));
          console.result(
              "These %d runs would be removed: say so with --yes.".formatted(old.size()));
        }
      }
      return ExitCode.FINE;
    }

    private PruneRule rule() {
      int value = rule.keep == null ? rule.days : rule.keep;
      if (value < 0) {
        throw new UsageException("%d is out of range: it is at least 0".formatted(value));
      }
      return rule.keep == null
          ? new PruneRule.Before(Instant.now().minus(Duration.ofDays(rule.days)))
          : new PruneRule.KeepNewest(rule.keep);
    }
  }

  private static Writer stdout() {
    return new PrintWriter(System.out, false, StandardCharsets.UTF_8);
  }

  private static Map<String, Object> object(StoredRun run) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("number", run.number());
    object.put("name", run.name());
    object.put("source", run.source());
    object.put("started", run.started().toString());
    object.put("command", run.command());
    object.put("model", run.model());
    object.put("settings", run.settings());
    object.put("commit", run.commit().id());
    object.put("dirty", run.commit().dirty().orElse(null));
    object.put("hardware", run.hardware().orElse(null));
    object.put("processor", run.processor());
    object.put("cells", run.cells());
    object.put("calls", run.trials());
    return object;
  }

  private static Map<String, Object> object(Trend trend) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("series", trend.series());
    List<Object> points = new ArrayList<>();
    for (Trend.Point point : trend.points()) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("run", point.run());
      one.put("name", point.name());
      one.put("started", point.started().toString());
      one.put("commit", point.commit().id());
      one.put("dirty", point.commit().dirty().orElse(null));
      one.put("mean", point.mean());
      one.put("low", point.low());
      one.put("high", point.high());
      one.put("forks", point.forks());
      one.put("trials", point.trials());
      one.put("state", point.state());
      points.add(one);
    }
    object.put("points", points);
    object.put("elsewhere", trend.elsewhere());
    return object;
  }

  private static Map<String, Object> object(RunComparison comparison) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("subject", object(comparison.subject()));
    object.put("baseline", object(comparison.baseline()));
    object.put("rows", comparison.rows());
    object.put("only_subject", comparison.onlySubject());
    object.put("only_baseline", comparison.onlyBaseline());
    return object;
  }
}
