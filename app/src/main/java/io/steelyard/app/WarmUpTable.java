package io.steelyard.app;

import io.steelyard.lab.metric.Metric;
import io.steelyard.lab.record.Blocks;
import io.steelyard.lab.record.Entry.Role;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.reports.DetailTable;
import io.steelyard.reports.terminal.Format;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * What would have been measured with less warm-up: the warm-up calls of all processes, first with
 * first, second with second, beside the trials.
 */
final class WarmUpTable {
  private static final String NONE = "–";

  /** The calls shown, counted from 0. */
  private static final int[] CALLS = {0, 1, 2, 4, 9};

  private static final List<String> HEADERS =
      List.of("metric", "label", "1st call", "2nd", "3rd", "5th", "10th", "trials");

  private final Study study;
  private final Blocks blocks;

  private WarmUpTable(Study study, Blocks blocks) {
    this.study = study;
    this.blocks = blocks;
  }

  /** The table; empty where no metric has a warm-up. */
  static Optional<DetailTable> of(Study study, Blocks blocks) {
    WarmUpTable table = new WarmUpTable(study, blocks);
    List<List<String>> rows =
        Metric.of(study).stream()
            .filter(metric -> metric.workload().kind() != Workload.Kind.START)
            .flatMap(metric -> table.rows(metric).stream())
            .toList();
    return rows.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new DetailTable(
                "With less warm-up",
                HEADERS,
                rows,
                "What the processes' first, second and further calls would have said, means over"
                    + " processes; '–' where some had ended their warm-up by then."));
  }

  /** A row for each label, and one for its ratio. */
  private List<List<String>> rows(Metric metric) {
    List<List<String>> rows = new ArrayList<>();
    double[] baseline = study.baseline().isEmpty() ? null : means(metric, study.baseline());
    for (String label : study.engines().keySet()) {
      double[] own = means(metric, label);
      if (Double.isNaN(own[0])) {
        continue; // no warm-up, or no process that got through
      }
      rows.add(row(metric.name() + ", " + metric.unit(), label, own, ""));
      if (baseline != null && !label.equals(study.baseline()) && !Double.isNaN(baseline[0])) {
        double[] ratios =
            IntStream.range(0, own.length)
                .mapToDouble(
                    i -> metric.higherIsBetter() ? own[i] / baseline[i] : baseline[i] / own[i])
                .toArray();
        rows.add(row(metric.name(), label + " / " + study.baseline(), ratios, "×"));
      }
    }
    return rows;
  }

  private static List<String> row(String metric, String label, double[] values, String unit) {
    List<String> row = new ArrayList<>(List.of(metric, label));
    for (double value : values) {
      row.add(Double.isNaN(value) ? NONE : Format.significant(value, 3) + unit);
    }
    return row;
  }

  /** Of each of {@link #CALLS}, then of the trials. */
  private double[] means(Metric metric, String label) {
    List<ForkRecord> forks = List.copyOf(blocks.sound(new Cell(label, metric.workload())).values());
    double[] means = new double[CALLS.length + 1];
    for (int i = 0; i < CALLS.length; i++) {
      int index = CALLS[i];
      boolean all =
          !forks.isEmpty()
              && forks.stream().allMatch(fork -> fork.calls(Role.WARM_UP).size() > index);
      means[i] =
          all
              ? forks.stream()
                  .mapToDouble(fork -> metric.of(fork.calls(Role.WARM_UP).get(index)))
                  .average()
                  .orElseThrow()
              : Double.NaN;
    }
    means[CALLS.length] = forks.isEmpty() ? Double.NaN : metric.sample(forks).mean();
    return means;
  }
}
