package io.steelyard.app;

import io.steelyard.engines.steelyard.SteelyardProvider;
import io.steelyard.lab.environment.Environment;
import io.steelyard.lab.metric.Metric;
import io.steelyard.lab.record.Blocks;
import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.LoadReport;
import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import io.steelyard.reports.BenchFigure;
import io.steelyard.reports.BenchFormat;
import io.steelyard.reports.BenchRow;
import io.steelyard.stats.Interval;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A run of `bench` as rows: throughput as llama-bench has it, other figures beside it. */
final class BenchRows {
  private final Study study;
  private final Summary summary;
  private final Blocks blocks;
  private final Instant measured;
  private final long tensorBytes;

  /**
   * @param journal the run's, which says when it was measured
   */
  BenchRows(Study study, Summary summary, Blocks blocks, List<Entry> journal) {
    this.study = study;
    this.summary = summary;
    this.blocks = blocks;
    this.measured =
        journal.stream()
            .filter(Entry.BlockStart.class::isInstance)
            .map(entry -> Instant.parse(((Entry.BlockStart) entry).at()))
            .findFirst()
            .orElse(Instant.EPOCH);
    this.tensorBytes = tensorBytes(study.model());
  }

  /** Prints the rows on stdout; a label without any is named on stderr. */
  void print(Console console, BenchFormat format) {
    List<BenchRow> rows = new ArrayList<>();
    List<BenchFigure> figures = new ArrayList<>();
    for (Metric metric : Metric.of(study)) {
      for (String label : study.engines().keySet()) {
        Cell cell = new Cell(label, metric.workload());
        List<ForkRecord> forks = List.copyOf(blocks.sound(cell).values());
        if (forks.isEmpty()) {
          console.note(
              "%s has no row of %s: %s"
                  .formatted(
                      label,
                      metric.name(),
                      blocks.failures(cell).stream().findFirst().orElse("it was not measured")));
        } else if (metric.unit().equals("tok/s")) {
          rows.add(row(metric, label, forks));
        } else {
          figures.add(figure(metric, label, forks));
        }
      }
    }
    boolean rates = Metric.of(study).stream().allMatch(metric -> metric.unit().equals("tok/s"));
    console.result((rates ? format.render(rows) : format.renderFigures(figures)).stripTrailing());
  }

  private Summary.Cell cell(Metric metric, String label) {
    return summary.cells().stream()
        .filter(c -> c.label().equals(label) && c.metric().equals(metric.name()))
        .findFirst()
        .orElseThrow();
  }

  private BenchRow row(Metric metric, String label, List<ForkRecord> forks) {
    LoadReport.Settings settings = forks.getFirst().start().settings();
    Summary.Cell cell = cell(metric, label);
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
        type(label, settings),
        tensorBytes,
        settings.parameters(),
        study.model().random(),
        settings.threads(),
        metric.workload().batch() * metric.workload().prompt(),
        metric.workload().generate(),
        metric.workload().depth(),
        metric.name(),
        measured,
        forks.stream()
            .flatMap(fork -> fork.calls(Entry.Role.TRIAL).stream())
            .map(Entry.Call::nanos)
            .toList(),
        cell.low() == null
            ? Optional.empty()
            : Optional.of(new Interval(cell.mean(), cell.low(), cell.high(), 0.95)),
        Optional.ofNullable(cell.roofline()),
        further);
  }

  private String type(String label, LoadReport.Settings settings) {
    return study.model().name()
        + " "
        + settings.weights()
        + (SteelyardProvider.isInterpreted(study.engines().get(label).options())
            ? ", interpreted"
            : "");
  }

  private BenchFigure figure(Metric metric, String label, List<ForkRecord> forks) {
    LoadReport.Settings settings = forks.getFirst().start().settings();
    return new BenchFigure(
        cell(metric, label),
        Build.commit(),
        Environment.processor(),
        study.model().file(),
        type(label, settings),
        tensorBytes,
        settings.parameters(),
        study.model().random(),
        settings.threads(),
        measured,
        Arrays.stream(metric.sample(forks).allTrials()).boxed().toList());
  }

  /** Bytes of the model's tensors; of all its files where it can't be read any more. */
  private static long tensorBytes(Study.Model model) {
    try (ModelFile file = ModelFile.open(Path.of(model.file()))) {
      return file.bytesByType().values().stream().mapToLong(Long::longValue).sum();
    } catch (ModelException e) {
      return model.bytes();
    }
  }
}
