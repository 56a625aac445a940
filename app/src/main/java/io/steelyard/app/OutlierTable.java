package io.steelyard.app;

import io.steelyard.lab.metric.Metric;
import io.steelyard.lab.record.Blocks;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.reports.DetailTable;
import io.steelyard.reports.terminal.Format;
import io.steelyard.stats.FarOutliers;
import io.steelyard.stats.Sample;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** The trials that lie outside Tukey's fences, and what the far ones change. */
final class OutlierTable {
  private static final String NONE = "–";

  private OutlierTable() {}

  /** The table; empty where no trial lies outside. */
  static Optional<DetailTable> of(Study study, StudyRun.Outcome outcome) {
    boolean drops = study.design().dropsOutliers();
    Summary all = drops ? outcome.otherwise() : outcome.summary();
    Summary without = drops ? outcome.summary() : outcome.otherwise();
    List<List<String>> rows = new ArrayList<>();
    for (Metric metric : Metric.of(study)) {
      for (String label : study.engines().keySet()) {
        Optional<Sample> sample = sample(metric, label, outcome.blocks());
        int near = sample.map(FarOutliers::countNear).orElse(0);
        int far = sample.map(FarOutliers::count).orElse(0);
        if (near + far > 0) {
          rows.add(
              List.of(
                  metric.name(),
                  label,
                  String.valueOf(sample.orElseThrow().trials()),
                  String.valueOf(near),
                  String.valueOf(far),
                  mean(all, metric, label),
                  far > 0 ? mean(without, metric, label) : NONE));
        }
      }
    }
    if (rows.isEmpty()) {
      return Optional.empty();
    }
    ratios(all, without, rows);
    return Optional.of(
        new DetailTable(
            "Outliers",
            List.of("metric", "label", "trials", "near", "far", "with all", "without the far ones"),
            rows,
            "Trials outside Tukey's fences: near ones beyond 1.5 interquartile ranges from the"
                + " quartiles, far ones beyond 3. "
                + (drops
                    ? "The far ones were dropped, as asked: intervals and verdicts are optimistic."
                    : "All of them count; --outliers drop leaves the far ones out.")));
  }

  private static Optional<Sample> sample(Metric metric, String label, Blocks blocks) {
    List<ForkRecord> forks = List.copyOf(blocks.sound(new Cell(label, metric.workload())).values());
    return forks.isEmpty() ? Optional.empty() : Optional.of(metric.sample(forks));
  }

  private static String mean(Summary summary, Metric metric, String label) {
    return summary.cells().stream()
        .filter(cell -> cell.metric().equals(metric.name()) && cell.label().equals(label))
        .findFirst()
        .map(cell -> Format.significant(cell.mean(), 4) + " " + cell.unit())
        .orElse(NONE);
  }

  /** A row for each ratio that the far ones change. */
  private static void ratios(Summary all, Summary without, List<List<String>> rows) {
    for (int i = 0; i < all.comparisons().size(); i++) {
      Summary.Comparison with = all.comparisons().get(i);
      Summary.Comparison other = without.comparisons().get(i);
      if (!Objects.equals(with.ratio(), other.ratio())) {
        rows.add(
            List.of(
                with.metric(),
                with.subject() + " / " + with.baseline(),
                NONE,
                NONE,
                NONE,
                said(with),
                said(other)));
      }
    }
  }

  private static String said(Summary.Comparison comparison) {
    return comparison.ratio() == null
        ? comparison.verdict()
        : "%s× [%s, %s] %s"
            .formatted(
                Format.significant(comparison.ratio(), 3),
                bound(comparison.low()),
                bound(comparison.high()),
                comparison.verdict());
  }

  private static String bound(Double value) {
    return value == null ? NONE : Format.significant(value, 3);
  }
}
