package io.steelyard.app;

import io.steelyard.engines.attention.RingProblem;
import io.steelyard.engines.attention.RingProblem.Count;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.run.BenchmarkRun;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.reports.DetailTable;
import io.steelyard.reports.terminal.Format;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * How near rings came to one process and to the definition, and what they sent for it.
 *
 * @param rows by length, then by ring
 */
record RingExactnessView(List<Row> rows) implements StudyView {
  /**
   * One ring at one length.
   *
   * @param largestDifference of a value from flash in one process
   * @param relativeDifference Frobenius norm of the differences, by that of flash's values
   * @param values that were compared
   * @param largestError of a value from the definition in double precision
   * @param relativeError likewise
   * @param rowsChecked against the definition, over all keys
   * @param bound what rounding explains of both relative figures
   * @param sentBytes by all ranks in a pass, by count
   * @param predictedBytes {@code (R - 1) ×} the keys' and values' bytes, and a header a block
   * @param imbalance how far the rank that is furthest from the mean of computed scores is from it
   */
  record Row(
      String label,
      String length,
      double largestDifference,
      double relativeDifference,
      long values,
      double largestError,
      double relativeError,
      long rowsChecked,
      double bound,
      long sentBytes,
      long predictedBytes,
      double imbalance) {}

  static Optional<StudyView> of(RunDirectory directory, StudyRun.Outcome outcome) {
    Study study = directory.plan();
    if (Files.notExists(directory.path().resolve(BenchmarkRun.COUNTS))) {
      return Optional.empty();
    }
    Map<?, ?> counts = directory.read(BenchmarkRun.COUNTS, Map.class);
    List<Row> rows = new ArrayList<>();
    for (Workload workload : study.workloads()) {
      study
          .engines()
          .forEach(
              (label, engine) -> {
                if (engine.name().equals(RingProblem.ENGINE)
                    && counts.get(label) instanceof Map<?, ?> ofLabel
                    && ofLabel.get(workload.title()) instanceof Map<?, ?> ofCell) {
                  rows.add(
                      row(
                          label,
                          workload.title(),
                          RingProblem.of(engine.options()).ranks(),
                          ofCell));
                }
              });
    }
    return rows.isEmpty() ? Optional.empty() : Optional.of(new RingExactnessView(rows));
  }

  private static Row row(String label, String length, int ranks, Map<?, ?> counts) {
    double mean = (double) count(counts, "scores") / ranks;
    double imbalance = 0;
    for (int rank = 0; rank < ranks; rank++) {
      imbalance = Math.max(imbalance, Math.abs(count(counts, Count.SCORES.of(rank)) / mean - 1));
    }
    return new Row(
        label,
        length,
        count(counts, "largest_difference_e12") / 1e12,
        count(counts, "relative_difference_e12") / 1e12,
        count(counts, "values_compared"),
        count(counts, "largest_error_e12") / 1e12,
        count(counts, "relative_error_e12") / 1e12,
        count(counts, "rows_checked"),
        count(counts, "bound_e12") / 1e12,
        count(counts, "sent_bytes"),
        count(counts, "predicted_bytes"),
        imbalance);
  }

  private static long count(Map<?, ?> counts, String name) {
    return ((Number) counts.get(name)).longValue();
  }

  @Override
  public String name() {
    return "exactness";
  }

  @Override
  public DetailTable table() {
    return new DetailTable(
        "Exactness and traffic of rings",
        List.of(
            "length",
            "ring",
            "from flash",
            "largest",
            "values",
            "from definition",
            "largest",
            "rows",
            "bound",
            "sent",
            "predicted",
            "imbalance"),
        rows.stream()
            .map(
                row ->
                    List.of(
                        row.length(),
                        row.label(),
                        tiny(row.relativeDifference()),
                        tiny(row.largestDifference()),
                        Format.count(row.values()),
                        tiny(row.relativeError()),
                        tiny(row.largestError()),
                        Format.count(row.rowsChecked()),
                        tiny(row.bound()),
                        Format.count(row.sentBytes()),
                        Format.count(row.predictedBytes()),
                        Format.percent(row.imbalance(), 2)))
            .toList(),
        "From flash: relative difference from flash in one process over all values; from the"
            + " definition: relative error over the rows that were checked in double precision over"
            + " all keys; largest: the largest difference of one value; bound: what rounding"
            + " explains of either relative figure. Sent: bytes of all ranks in a pass, by count;"
            + " predicted: (ranks - 1) × the bytes of all keys and values, and 20 a block of"
            + " headers. Imbalance: how far the rank furthest from the mean of computed scores is"
            + " from it.");
  }

  private static String tiny(double value) {
    return value == 0 ? "0" : String.format(Locale.ROOT, "%.1e", value);
  }
}
