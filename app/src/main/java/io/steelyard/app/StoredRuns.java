package io.steelyard.app;

import io.steelyard.history.HistoryException;
import io.steelyard.history.HistoryStore;
import io.steelyard.history.Trend;
import io.steelyard.history.TrendQuery;
import io.steelyard.lab.RunException;
import io.steelyard.lab.environment.Environment;
import io.steelyard.lab.metric.Metric;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.study.Study;
import io.steelyard.stats.AgainstStored;
import io.steelyard.stats.FamilyVerdicts;
import io.steelyard.stats.Interval;
import io.steelyard.stats.Intervals;
import io.steelyard.stats.Verdict;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What earlier runs on the same hardware measured of an engine: what a run is held against where
 * both sides can't be measured now.
 *
 * @param place of the history
 * @param commit only runs of this commit count; empty for those of any
 */
record StoredRuns(String place, String commit) {
  /** What stands for the baseline in tables. */
  static final String LABEL = "stored";

  /** More runs than this are too old to tell of the machine as it is. */
  private static final int NEWEST = 10;

  /**
   * Refuses a study that nothing can be held against, before it is measured.
   *
   * @throws RunException that says what is stored instead
   */
  void require(Study study) {
    List<String> reasons = new ArrayList<>();
    try (HistoryStore store = HistoryStore.open(place)) {
      for (Metric metric : Metric.of(study)) {
        for (String label : study.engines().keySet()) {
          try {
            if (!earlier(store, study, metric, label, "").isEmpty()) {
              return;
            }
            reasons.add(
                "%s has no run of %s with %s"
                    .formatted(store.place(), commit.isEmpty() ? "it" : commit, metric.name()));
          } catch (HistoryException e) {
            reasons.add(e.getMessage());
          }
        }
      }
    }
    throw new RunException("there is nothing to hold this against: " + reasons.getFirst());
  }

  /** The newest earlier values, one a run. */
  private List<Trend.Point> earlier(
      HistoryStore store, Study study, Metric metric, String label, String run) {
    Trend trend =
        store.trend(
            TrendQuery.of(metric.name())
                .label(label)
                .model(study.model().name())
                .hardware(Environment.fingerprint()));
    List<Trend.Point> points =
        trend.points().stream()
            .filter(point -> !point.name().equals(run) && point.mean() > 0)
            .filter(point -> commit.isEmpty() || point.commit().id().equals(commit))
            .toList();
    return points.subList(Math.max(0, points.size() - NEWEST), points.size());
  }

  /** A row before its verdict, which depends on the others. */
  private record Draft(
      Summary.Cell cell, int runs, Optional<FamilyVerdicts.Ratio> ratio, double margin) {}

  /**
   * The summary of a run, with each of its cells held against the stored ones.
   *
   * @param run its directory; it is added to the history, so that what is equal to it is found
   */
  Summary compared(Study study, Summary summary, Path run) {
    List<Draft> drafts = new ArrayList<>();
    try (HistoryStore store = HistoryStore.open(place)) {
      store.add(run);
      List<Metric> metrics = Metric.of(study);
      for (int i = 0; i < metrics.size(); i++) {
        double margin = study.design().margin(study.metrics().get(i));
        for (Summary.Cell cell : summary.cells()) {
          if (cell.metric().equals(metrics.get(i).name()) && cell.mean() != null) {
            drafts.add(draft(store, study, metrics.get(i), cell, summary.run(), margin));
          }
        }
      }
    }
    List<Draft> judged = drafts.stream().filter(draft -> draft.ratio().isPresent()).toList();
    List<Verdict> verdicts =
        FamilyVerdicts.of(
            judged.stream().map(draft -> draft.ratio().orElseThrow()).toList(),
            judged.stream().map(Draft::margin).toList());
    List<Summary.Comparison> comparisons =
        drafts.stream()
            .map(
                draft -> {
                  int index = judged.indexOf(draft);
                  return row(draft, index < 0 ? Verdict.INCONCLUSIVE : verdicts.get(index));
                })
            .toList();
    return new Summary(
        summary.schema(),
        summary.run(),
        summary.model(),
        summary.weights(),
        summary.cells(),
        comparisons,
        summary.parity(),
        summary.fairness());
  }

  private Draft draft(
      HistoryStore store,
      Study study,
      Metric metric,
      Summary.Cell cell,
      String run,
      double margin) {
    double[] then =
        earlier(store, study, metric, cell.label(), run).stream()
            .mapToDouble(Trend.Point::mean)
            .toArray();
    Optional<FamilyVerdicts.Ratio> ratio =
        then.length < 2 || !(cell.mean() > 0)
            ? Optional.empty()
            : Optional.of(
                level -> AgainstStored.ratio(cell.mean(), then, metric.higherIsBetter(), level));
    return new Draft(cell, then.length, ratio, margin);
  }

  private static Summary.Comparison row(Draft draft, Verdict verdict) {
    Optional<Interval> interval = draft.ratio().flatMap(r -> r.interval(Intervals.LEVEL));
    Summary.Cell cell = draft.cell();
    return new Summary.Comparison(
        cell.metric(),
        cell.label(),
        LABEL,
        cell.model(),
        cell.precision(),
        interval.map(Interval::estimate).orElse(null),
        interval.map(Interval::low).orElse(null),
        interval.map(Interval::high).orElse(null),
        verdict.label(),
        draft.runs(),
        draft.ratio().isPresent()
            ? "against %d stored runs, not measured together: what the machine does from run to run is in the interval"
                .formatted(draft.runs())
            : "need ≥ 2 stored runs, there %s %d"
                .formatted(draft.runs() == 1 ? "is" : "are", draft.runs()));
  }
}
