package io.steelyard.app;

import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Entry.Role;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.models.ModelException;
import io.steelyard.models.ModelFile;
import io.steelyard.reports.DetailTable;
import io.steelyard.reports.terminal.Format;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Loads with a warm page cache and from disk, by the number of files. */
record LoadView(List<Row> rows) implements StudyView {
  /**
   * One state of the page cache of one label.
   *
   * @param weights {@code real} or {@code random}
   * @param cache {@code warm}, or {@code disk} where the model's files were dropped from it
   * @param files that the tensors lie in; 0 where they can't be read any more
   * @param bytes of them
   * @param loadMs mean over processes
   * @param low lower bound of its 95 % interval; null where there is none
   * @param high upper bound; null likewise
   * @param firstMs time of the first token's prefill, which reads what the load only mapped
   * @param gigabytesPerSecond bytes ÷ time of both
   */
  record Row(
      String label,
      String weights,
      String cache,
      int files,
      long bytes,
      double loadMs,
      Double low,
      Double high,
      double firstMs,
      double gigabytesPerSecond) {}

  static Optional<StudyView> of(RunDirectory directory, StudyRun.Outcome outcome) {
    Study study = directory.plan();
    List<String> metrics = List.of("load", Study.FROM_DISK);
    if (!metrics.containsAll(study.metrics())) {
      return Optional.empty();
    }
    List<Row> rows = new ArrayList<>();
    for (String label : study.engines().keySet()) {
      for (String metric : study.metrics()) {
        Workload workload = study.shape().workload(metric);
        List<ForkRecord> forks =
            List.copyOf(outcome.blocks().sound(new Cell(label, workload)).values());
        outcome.summary().cells().stream()
            .filter(cell -> cell.label().equals(label) && cell.metric().equals(metric))
            .filter(cell -> cell.mean() != null && !forks.isEmpty())
            .findFirst()
            .ifPresent(
                cell ->
                    rows.add(row(outcome.summary(), cell, workload, forks, study.modelOf(label))));
      }
    }
    return rows.isEmpty() ? Optional.empty() : Optional.of(new LoadView(rows));
  }

  private static Row row(
      Summary summary,
      Summary.Cell cell,
      Workload workload,
      List<ForkRecord> forks,
      Study.Model model) {
    double first =
        forks.stream()
                .flatMap(fork -> fork.calls(Role.FIRST).stream())
                .mapToLong(Entry.Call::outsideNanos)
                .average()
                .orElse(Double.NaN)
            / 1e6;
    return new Row(
        cell.label(),
        summary.weights(),
        workload.isFromDisk() ? "disk" : "warm",
        files(model),
        model.bytes(),
        cell.mean(),
        cell.low(),
        cell.high(),
        first,
        model.bytes() / (cell.mean() + first) / 1e6);
  }

  private static int files(Study.Model model) {
    try {
      return ModelFile.files(Path.of(model.file())).size();
    } catch (ModelException e) {
      return 0;
    }
  }

  @Override
  public DetailTable table() {
    List<List<String>> lines = new ArrayList<>();
    for (Row row : rows) {
      lines.add(
          List.of(
              row.label(),
              row.weights(),
              row.cache(),
              row.files() == 0 ? "–" : Integer.toString(row.files()),
              Format.bytes(row.bytes()),
              Format.significant(row.loadMs(), 3),
              row.low() == null
                  ? ""
                  : "[%s, %s]"
                      .formatted(
                          Format.significant(row.low(), 3), Format.significant(row.high(), 3)),
              Format.significant(row.firstMs(), 3),
              Format.significant(row.gigabytesPerSecond(), 3)));
    }
    return new DetailTable(
        "Loads",
        List.of(
            "engine", "weights", "cache", "files", "size", "load ms", "95 %", "first ms", "GB/s"),
        lines,
        "Load: the call by the engine's own clock. First: the prefill of "
            + Workload.START_PROMPT
            + " tokens that follows, which is the first to read weights that were only mapped; GB/s is"
            + " the size over both. Disk: the model's files, and nothing else, were dropped from the"
            + " page cache just before.");
  }
}
