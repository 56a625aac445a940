package io.steelyard.app;

import io.steelyard.lab.metric.PeakMemory;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.reports.DetailTable;
import io.steelyard.reports.terminal.Format;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/** Forward passes of several sizes: speed and memory by batch and length. */
record ForwardView(List<Row> rows) implements StudyView {
  /**
   * One size of one label.
   *
   * @param weights {@code real} or {@code random}
   * @param batch sequences
   * @param length tokens of each
   * @param low lower bound of the 95 % interval of the tokens/s; null where there is none
   * @param high upper bound; null likewise
   * @param ofLimit share of the roofline; null where it wasn't measured
   * @param peakBytes largest resident memory of the process, mean over processes
   * @param averageBytes resident memory, mean over readings after each call, without a runtime that
   *     hosts the engine, as the peak
   * @param activationBytes by the engine's own account; null where it doesn't tell
   * @param peakBytesASequence growth of the peak from the smallest batch of this length, a sequence
   *     more; null for that batch
   */
  record Row(
      String label,
      String weights,
      int batch,
      int length,
      double tokensPerSecond,
      Double low,
      Double high,
      double samplesPerSecond,
      Double ofLimit,
      double peakBytes,
      double averageBytes,
      Double activationBytes,
      Double peakBytesASequence) {}

  static Optional<StudyView> of(RunDirectory directory, StudyRun.Outcome outcome) {
    Study study = directory.plan();
    List<Row> rows = new ArrayList<>();
    for (String label : study.engines().keySet()) {
      List<Row> own = new ArrayList<>();
      for (Workload workload : study.workloads()) {
        if (workload.kind() == Workload.Kind.FORWARD) {
          row(outcome, new Cell(label, workload), own).ifPresent(own::add);
        }
      }
      rows.addAll(own);
    }
    return rows.isEmpty() ? Optional.empty() : Optional.of(new ForwardView(rows));
  }

  /**
   * Of the processes that got through.
   *
   * @param before rows of the same label
   */
  private static Optional<Row> row(StudyRun.Outcome outcome, Cell cell, List<Row> before) {
    List<ForkRecord> forks = List.copyOf(outcome.blocks().sound(cell).values());
    Optional<Summary.Cell> found =
        outcome.summary().cells().stream()
            .filter(c -> c.label().equals(cell.label()))
            .filter(c -> c.metric().equals(cell.workload().name()) && c.mean() != null)
            .findFirst();
    if (forks.isEmpty() || found.isEmpty()) {
      return Optional.empty();
    }
    Workload workload = cell.workload();
    double rate = found.get().mean();
    double peak = mean(forks, PeakMemory::judgedBytes);
    boolean told = forks.stream().allMatch(fork -> fork.end().parts().containsKey("activations"));
    Optional<Row> smallest =
        before.stream()
            .filter(row -> row.length() == workload.prompt() && row.batch() < workload.batch())
            .findFirst();
    return Optional.of(
        new Row(
            cell.label(),
            outcome.summary().weights(),
            workload.batch(),
            workload.prompt(),
            rate,
            found.get().low(),
            found.get().high(),
            rate / workload.prompt(),
            found.get().roofline(),
            peak,
            mean(forks, fork -> PeakMemory.judged(fork, fork.end().averageBytes())),
            told ? mean(forks, fork -> fork.end().parts().get("activations")) : null,
            smallest
                .map(row -> (peak - row.peakBytes()) / (workload.batch() - row.batch()))
                .orElse(null)));
  }

  private static double mean(List<ForkRecord> forks, ToDoubleFunction<ForkRecord> value) {
    return forks.stream().mapToDouble(value).average().orElseThrow();
  }

  @Override
  public DetailTable table() {
    List<List<String>> lines = new ArrayList<>();
    for (Row row : rows) {
      lines.add(
          List.of(
              row.label(),
              row.weights(),
              Integer.toString(row.batch()),
              Integer.toString(row.length()),
              Format.significant(row.tokensPerSecond(), 3),
              row.low() == null
                  ? ""
                  : "[%s, %s]"
                      .formatted(
                          Format.significant(row.low(), 3), Format.significant(row.high(), 3)),
              Format.significant(row.samplesPerSecond(), 3),
              RooflineTable.share(row.ofLimit()),
              megabytes(row.peakBytes()),
              megabytes(row.averageBytes()),
              row.activationBytes() == null ? "–" : megabytes(row.activationBytes()),
              row.peakBytesASequence() == null ? "" : megabytes(row.peakBytesASequence())));
    }
    return new DetailTable(
        "Forward passes by batch and length",
        List.of(
            "engine",
            "weights",
            "batch",
            "length",
            "tok/s",
            "95 %",
            "seq/s",
            "of limit",
            "peak MB",
            "average MB",
            "activations MB",
            "MB a sequence"),
        lines,
        "Logits of every position; of limit: the least time that reading the model once and all"
            + " products take, by './steelyard calibrate --roofline', as a share of the time. How a batch is computed is the engine's affair: steelyard forwards"
            + " its sequences one after the other, so that its activations don't grow with the"
            + " batch; llamacpp takes them into one batch as far as its context holds them. Peak and"
            + " average of the resident memory, without a runtime that hosts the engine; activations"
            + " by the engine's own account; MB a sequence: growth of the peak from the smallest"
            + " batch.");
  }

  private static String megabytes(double bytes) {
    return Format.significant(bytes / 1e6, Math.abs(bytes) >= 1e9 ? 4 : 3);
  }
}
