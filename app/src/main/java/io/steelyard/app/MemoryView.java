package io.steelyard.app;

import io.steelyard.kernels.DataType;
import io.steelyard.lab.metric.PeakMemory;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.lab.worker.LoadReport;
import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import io.steelyard.models.architecture.ModelMemory;
import io.steelyard.reports.DetailTable;
import io.steelyard.reports.terminal.Format;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/** A process's memory by part, predicted from the model's shapes beside measured. */
record MemoryView(List<Row> rows) implements StudyView {
  /**
   * One part of one label.
   *
   * @param weights {@code real} or {@code random}
   * @param predicted bytes from the shapes; null where shapes don't tell
   * @param measured bytes, mean over processes; null where nobody tells
   * @param source where the measured value comes from
   */
  record Row(
      String label,
      String weights,
      String part,
      Double predicted,
      Double measured,
      String source) {}

  private static final String ENGINE = "engine";
  private static final String SYSTEM = "system";

  static Optional<StudyView> of(RunDirectory directory, StudyRun.Outcome outcome) {
    Study study = directory.plan();
    if (!isOf(study)) {
      return Optional.empty();
    }
    Workload workload = study.workloads().getFirst();
    List<Row> rows = new ArrayList<>();
    for (String label : study.engines().keySet()) {
      List<ForkRecord> forks =
          List.copyOf(outcome.blocks().sound(new Cell(label, workload)).values());
      if (!forks.isEmpty()) {
        rows.addAll(rows(study, label, forks, outcome.summary().weights()));
      }
    }
    return rows.isEmpty() ? Optional.empty() : Optional.of(new MemoryView(rows));
  }

  /** Whether a study is of memory alone, so that this is its table. */
  static boolean isOf(Study study) {
    return study.metrics().equals(List.of("memory"));
  }

  private static List<Row> rows(Study study, String label, List<ForkRecord> forks, String weights) {
    LoadReport.Settings settings = forks.getFirst().start().settings();
    Optional<ModelMemory> predicted = predicted(study.modelOf(label), settings);
    List<Row> rows = new ArrayList<>();
    rows.add(
        row(
            label,
            weights,
            "runtime, before the load",
            null,
            forks,
            f -> f.start().readyBytes(),
            SYSTEM));
    Map<String, Long> told = forks.getFirst().end().parts();
    Double inFile = predicted.map(p -> (double) p.weights()).orElse(null);
    rows.add(row(label, weights, "weights", inFile, forks, part("weights"), ENGINE));
    rows.add(
        row(
            label,
            weights,
            "of the file, resident",
            inFile,
            forks,
            f -> f.end().mappedBytes().map(Long::doubleValue).orElse(Double.NaN),
            SYSTEM));
    rows.add(row(label, weights, "weights, held otherwise", null, forks, part("repacked"), ENGINE));
    rows.add(
        row(
            label,
            weights,
            "KV cache",
            predicted.map(p -> (double) p.keyValues()).orElse(null),
            forks,
            part("kv"),
            ENGINE));
    rows.add(
        row(
            label,
            weights,
            "activations",
            predicted.map(p -> (double) p.activations()).orElse(null),
            forks,
            part("activations"),
            ENGINE));
    List<String> known = List.of("weights", "repacked", "kv", "activations");
    for (String other : told.keySet()) {
      if (!known.contains(other)) {
        rows.add(row(label, weights, other, null, forks, part(other), ENGINE));
      }
    }
    rows.add(
        row(label, weights, "not accounted for", null, forks, MemoryView::unexplained, SYSTEM));
    rows.add(row(label, weights, "peak, counted", null, forks, PeakMemory::judgedBytes, SYSTEM));
    rows.add(row(label, weights, "peak, all of it", null, forks, f -> f.end().peakBytes(), SYSTEM));
    rows.add(
        row(
            label,
            weights,
            "average, all of it",
            null,
            forks,
            f -> RunDetails.known(f.end().averageBytes()),
            SYSTEM));
    rows.add(
        row(
            label,
            weights,
            "proportional, at the end",
            null,
            forks,
            f -> RunDetails.known(f.end().proportionalBytes()),
            SYSTEM));
    rows.removeIf(row -> row.measured() == null && row.predicted() == null);
    return rows;
  }

  private static Row row(
      String label,
      String weights,
      String part,
      Double predicted,
      List<ForkRecord> forks,
      ToDoubleFunction<ForkRecord> value,
      String source) {
    double mean = forks.stream().mapToDouble(value).average().orElse(Double.NaN);
    return new Row(
        label, weights, part, predicted, Double.isNaN(mean) ? null : Double.valueOf(mean), source);
  }

  private static ToDoubleFunction<ForkRecord> part(String name) {
    return fork -> {
      Long bytes = fork.end().parts().get(name);
      return bytes == null ? Double.NaN : bytes;
    };
  }

  /** Weights that are mapped count by what is resident of them. */
  static double unexplained(ForkRecord fork) {
    long parts = fork.end().parts().values().stream().mapToLong(Long::longValue).sum();
    Long weights = fork.end().parts().get("weights");
    if (weights != null && fork.end().mappedBytes().filter(bytes -> bytes > 0).isPresent()) {
      parts += fork.end().mappedBytes().get() - weights;
    }
    return (double) fork.end().peakBytes() - fork.start().readyBytes() - parts;
  }

  /** Empty where the file can't be read any more, or its shapes aren't known. */
  private static Optional<ModelMemory> predicted(Study.Model model, LoadReport.Settings settings) {
    try (ModelFile file = ModelFile.open(Path.of(model.file()))) {
      DataType kv = DataType.valueOf(settings.kv().toUpperCase(Locale.ROOT));
      return Optional.of(ModelMemory.of(file, settings.context(), kv, settings.batch()));
    } catch (ModelException | IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  @Override
  public DetailTable table() {
    List<List<String>> lines = new ArrayList<>();
    String before = "";
    for (Row row : rows) {
      lines.add(
          List.of(
              row.label().equals(before) ? "" : row.label(),
              row.label().equals(before) ? "" : row.weights(),
              row.part(),
              megabytes(row.predicted()),
              megabytes(row.measured()),
              row.source()));
      before = row.label();
    }
    return new DetailTable(
        "Memory by part, predicted and measured",
        List.of("engine", "weights", "part", "predicted MB", "measured MB", "by"),
        lines,
        "Predicted from the shapes in the file: the weights as they lie there, the KV cache for the"
            + " whole context, the activations of a full pass without the kernels' scratch memory."
            + " Of the file, resident: what of its mapping lies in memory."
            + " Measured by the engine's own account or by the operating system, means over"
            + " processes. Not accounted for: the peak without the runtime and the parts, of mapped"
            + " weights what is resident. Counted: without what belongs to a runtime that this engine's"
            + " users don't need. Proportional: pages shared with other processes count in part.");
  }

  private static String megabytes(Double bytes) {
    return bytes == null ? "–" : Format.significant(bytes / 1e6, Math.abs(bytes) >= 1e9 ? 4 : 3);
  }
}
