package io.steelyard.app;

import io.steelyard.lab.record.Journal;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.PageCache;
import io.steelyard.models.catalogue.ResolvedModel;
import io.steelyard.reports.BenchFormat;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    subcommands = {
      DiffuseBenchCommand.class,
      BatchCommand.class,
      CacheCommand.class,
      FusionBenchCommand.class,
      JavaBenchCommand.class,
      MatmulCommand.class,
      BandwidthCommand.class
    },
    description = {
      "Measures one thing, with llama-bench's names and formats.",
      "",
      "WHAT is prefill (pp512), decode (tg64), forward (batch × length with all logits, or a grid"
          + " of both), load (page cache warm and, where the system allows it, from disk), coldstart"
          + " or memory (by part, predicted beside measured). Parity is proven first, as in"
          + " 'compare'. 'batch', 'generate', 'diffuse', 'fusion', 'matmul', 'bandwidth'"
          + " and 'java' (benchmarks of your own) are commands of their own."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard bench prefill",
      "  ./steelyard bench decode --depth 4096 -e llamacpp -e llamacpp:flash=off -o json",
      "  ./steelyard bench forward --batch 4 --prompt 128 --quick",
      "  ./steelyard bench forward --batch 1,4,16 --length 64,256 --quick",
      "  ./steelyard bench load -e steelyard --quick",
      "  ./steelyard bench memory --quick",
      "  ./steelyard bench decode --profile"
    })
final class BenchCommand implements Callable<Integer> {
  private static final List<String> KINDS =
      List.of("prefill", "decode", "forward", "load", "coldstart", "memory");

  private static final List<String> PROFILED = List.of("prefill", "decode", "forward");

  @Spec CommandSpec spec;

  @Parameters(
      paramLabel = "WHAT",
      // A subcommand stands in its place.
      arity = "0..1",
      description = "prefill, decode, forward, load, coldstart or memory")
  String what;

  @Mixin StudyOptions options;
  @Mixin InterpretOption interpret;

  @Option(
      names = "--batch",
      split = ",",
      paramLabel = "N",
      defaultValue = "1",
      description = "sequences of a forward pass; several for a grid")
  List<Integer> batches;

  @Option(
      names = "--length",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      split = ",",
      paramLabel = "N",
      description = "tokens of a forward pass's sequences; several for a grid (default: --prompt)")
  List<Integer> lengths = List.of();

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      defaultValue = "md",
      description = "md, json, jsonl or csv")
  BenchFormat format;

  @Option(names = "--json", description = "print summary.json, as 'compare --json' does")
  boolean json;

  @Mixin ProfileOption profile;

  @Override
  public Integer call() throws Exception {
    if (what == null || !KINDS.contains(what)) {
      throw new UsageException(
          "bench %s: there are %s, batch, generate, diffuse, fusion, matmul, bandwidth and java"
              .formatted(
                  what == null ? "needs to know what" : what + " is unknown",
                  String.join(", ", KINDS)));
    }
    checkGrid();
    List<String> specs =
        interpret.on(options.engines.isEmpty() ? List.of("steelyard") : options.engines);
    if (profile.asked()) {
      checkProfile(specs);
    }
    Console console = new Console();
    specs = Engines.prepare(specs, console);
    ResolvedModel model = Models.resolve(options.model, console);
    Study study =
        options.study(
            CommandText.of(spec),
            model,
            specs,
            null,
            metrics(model, console),
            batches.getFirst(),
            DesignOptions.MARGIN,
            List.of());
    if (profile.asked()) {
      ProfileRun.each(console, study, options.design.runs);
      return ExitCode.FINE;
    }
    return new StudyConsole(console, json, this::print)
        .begin(options.design.runs, "bench-" + what, study);
  }

  private void checkGrid() {
    batches.forEach(batch -> StudyOptions.between("--batch", batch, 1, 4096));
    lengths.forEach(length -> StudyOptions.between("--length", length, 1, 1 << 20));
    if (!what.equals("forward") && (batches.size() > 1 || !lengths.isEmpty())) {
      throw new UsageException("--batch and --length are for bench forward, not " + what);
    }
    if (new HashSet<>(batches).size() < batches.size()
        || new HashSet<>(lengths).size() < lengths.size()) {
      throw new UsageException("--batch or --length names a size twice");
    }
    if (profile.asked() && batches.size() * Math.max(1, lengths.size()) > 1) {
      throw new UsageException(
          "--profile takes one size, not a grid: give one --batch and --length");
    }
  }

  /** What is measured: of a grid one metric a size, of loads those from disk, too. */
  private List<String> metrics(ResolvedModel model, Console console) throws IOException {
    if (what.equals("forward") && (batches.size() > 1 || !lengths.isEmpty())) {
      List<String> metrics = new ArrayList<>();
      for (int length : lengths.isEmpty() ? List.of(options.prompt) : lengths) {
        batches.stream()
            .sorted()
            .forEach(batch -> metrics.add(Study.FORWARD + batch + "x" + length));
      }
      return metrics;
    }
    if (!what.equals("load")) {
      return List.of(what);
    }
    if (PageCache.drop(model.file()) > 0) {
      console.note(
          "The system keeps %s in its page cache, so loads from disk aren't measured: another process has it mapped, or dropping it isn't allowed here"
              .formatted(model.file()));
      return List.of(what);
    }
    return List.of(what, Study.FROM_DISK);
  }

  private void checkProfile(List<String> specs) {
    if (!PROFILED.contains(what)) {
      throw new UsageException(
          "bench %s has no --profile: %s, batch, diffuse, fusion and matmul have one"
              .formatted(what, String.join(", ", PROFILED)));
    }
    profile.requireNoMeasurement(spec);
    ProfileRun.check(specs);
  }

  private void print(Console console, RunDirectory directory, StudyRun.Outcome outcome) {
    new BenchRows(
            directory.plan(),
            outcome.summary(),
            outcome.blocks(),
            Journal.read(directory.journalFile()))
        .print(console, format);
    if (format == BenchFormat.MD) {
      for (StudyView view : StudyView.of(directory, outcome)) {
        console.blank();
        console.table(view.table().render(console.style()));
      }
    }
    console.note("Report: " + directory.path().resolve("report.md"));
  }
}
