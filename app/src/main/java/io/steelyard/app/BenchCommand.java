package io.steelyard.app;

import io.steelyard.lab.environment.Environment;
import io.steelyard.lab.metric.Metric;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.run.Entry;
import io.steelyard.lab.run.ForkRecord;
import io.steelyard.lab.run.RunDirectory;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.LoadReport;
import io.steelyard.models.catalogue.ResolvedModel;
import io.steelyard.reports.BenchFormat;
import io.steelyard.reports.BenchRow;
import io.steelyard.reports.ComparisonTable;
import io.steelyard.stats.Interval;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
    description = {
      "Measures one thing, with llama-bench's names and formats.",
      "",
      "WHAT is prefill (pp512), decode (tg64), forward (batch × length with all logits), load,"
          + " coldstart or memory. Parity is proven first, as in 'compare'."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard bench prefill",
      "  ./steelyard bench decode --depth 4096 -e llamacpp -e llamacpp:flash=off -o json",
      "  ./steelyard bench forward --batch 4 --prompt 128 --quick",
      "  ./steelyard bench load -e steelyard --quick"
    })
final class BenchCommand implements Callable<Integer> {
  private static final List<String> KINDS =
      List.of("prefill", "decode", "forward", "load", "coldstart", "memory");

  @Spec CommandSpec spec;

  @Parameters(
      paramLabel = "WHAT",
      description = "prefill, decode, forward, load, coldstart or memory")
  String what;

  @Mixin StudyOptions options;

  @Option(
      names = "--batch",
      paramLabel = "N",
      defaultValue = "1",
      description = "sequences of a forward pass")
  int batch;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      defaultValue = "md",
      description = "md, json, jsonl or csv")
  BenchFormat format;

  @Option(names = "--json", description = "print summary.json, as 'compare --json' does")
  boolean json;

  @Override
  public Integer call() throws Exception {
    if (!KINDS.contains(what)) {
      throw new UsageException(
          "bench " + what + " is unknown: there are " + String.join(", ", KINDS));
    }
    StudyOptions.between("--batch", batch, 1, 4096);
    List<String> specs = options.engines.isEmpty() ? List.of("steelyard") : options.engines;
    Console console = new Console();
    specs = Engines.prepare(specs, console);
    ResolvedModel model = Models.resolve(options.model, console);
    Study study =
        options.study(
            CommandText.of(spec), model, specs, null, List.of(what), batch, 0.02, List.of());
    return new StudyConsole(console, json, this::print).begin(options.runs, "bench-" + what, study);
  }

  private void print(Console console, RunDirectory directory, StudyRun.Outcome outcome) {
    List<BenchRow> rows = rows(directory.plan(), outcome);
    if (rows.isEmpty()) {
      console.result(ComparisonTable.render(outcome.summary(), console.style()));
    } else {
      console.result(format.render(rows).stripTrailing());
    }
    console.note("Report: " + directory.path().resolve("report.md"));
  }

  /** Rows in llama-bench's manner; none for what llama-bench doesn't measure. */
  private static List<BenchRow> rows(Study study, StudyRun.Outcome outcome) {
    List<BenchRow> rows = new ArrayList<>();
    for (Metric metric : Metric.of(study)) {
      if (!metric.unit().equals("tok/s")) {
        continue;
      }
      for (String label : study.engines().keySet()) {
        List<ForkRecord> forks =
            List.copyOf(outcome.blocks().sound(new Cell(label, metric.workload())).values());
        if (!forks.isEmpty()) {
          rows.add(row(study, metric, label, forks, outcome.summary()));
        }
      }
    }
    return rows;
  }

  private static BenchRow row(
      Study study, Metric metric, String label, List<ForkRecord> forks, Summary summary) {
    LoadReport.Settings settings = forks.getFirst().start().settings();
    List<Long> samples =
        forks.stream()
            .flatMap(fork -> fork.calls(Entry.Role.TRIAL).stream())
            .map(Entry.Call::nanos)
            .toList();
    Summary.Cell cell =
        summary.cells().stream()
            .filter(c -> c.label().equals(label) && c.metric().equals(metric.name()))
            .findFirst()
            .orElseThrow();
    Optional<Interval> interval =
        cell.low() == null
            ? Optional.empty()
            : Optional.of(new Interval(cell.mean(), cell.low(), cell.high(), 0.95));
    Map<String, Object> further = new LinkedHashMap<>();
    further.put("n_batch", settings.batch());
    further.put("type_k", settings.kv());
    further.put("type_v", settings.kv());
    further.put("flash_attn", settings.flashAttention());
    return new BenchRow(
        label,
        Build.commit(),
        Environment.processor(),
        "CPU",
        study.model().file(),
        study.model().name() + " " + settings.weights(),
        study.model().bytes(),
        settings.parameters(),
        study.model().random(),
        settings.threads(),
        metric.workload().batch() * metric.workload().prompt(),
        metric.workload().generate(),
        metric.workload().depth(),
        Instant.now(),
        samples,
        interval,
        further);
  }
}
