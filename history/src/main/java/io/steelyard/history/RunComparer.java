package io.steelyard.history;

import io.steelyard.lab.record.Summary;
import io.steelyard.stats.FamilyVerdicts;
import io.steelyard.stats.Interval;
import io.steelyard.stats.Intervals;
import io.steelyard.stats.Sample;
import io.steelyard.stats.UnpairedRatio;
import io.steelyard.stats.Verdict;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Compares two runs of a history. Their blocks are not paired, so the ratio's interval is Welch's
 * over the logarithms of fork means.
 */
final class RunComparer {
  private static final String THROUGHPUT = "tok/s";

  private final Queries queries;

  RunComparer(Queries queries) {
    this.queries = queries;
  }

  /** What makes two cells the same. */
  private record Key(String label, String metric, String model, String precision, String unit) {
    static Key of(RunContents.Cell cell) {
      Summary.Cell f = cell.figures();
      return new Key(f.label(), f.metric(), f.model(), f.precision(), f.unit());
    }

    String name() {
      return label + ", " + metric;
    }
  }

  /** A row before its verdict, which depends on the others. */
  private record Draft(
      Key key,
      Summary.Cell subject,
      Summary.Cell baseline,
      Optional<FamilyVerdicts.Ratio> ratio,
      List<String> obstacles) {}

  RunComparison compare(StoredRun subject, StoredRun baseline, double margin) {
    Map<Key, RunContents.Cell> own = byKey(subject);
    Map<Key, RunContents.Cell> other = byKey(baseline);
    List<String> obstacles = obstacles(subject, baseline);
    List<Draft> drafts = new ArrayList<>();
    own.forEach(
        (key, cell) -> {
          if (other.containsKey(key)) {
            drafts.add(draft(key, cell, other.get(key), obstacles));
          }
        });
    List<Draft> judged =
        drafts.stream().filter(d -> d.obstacles.isEmpty() && d.ratio.isPresent()).toList();
    List<Verdict> verdicts =
        FamilyVerdicts.of(judged.stream().map(d -> d.ratio.orElseThrow()).toList(), margin);
    List<RunComparison.Row> rows = new ArrayList<>();
    for (Draft draft : drafts) {
      int index = judged.indexOf(draft);
      Verdict otherwise = draft.obstacles.isEmpty() ? Verdict.INCONCLUSIVE : Verdict.NOT_COMPARABLE;
      rows.add(row(draft, index < 0 ? otherwise : verdicts.get(index), margin));
    }
    return new RunComparison(
        subject,
        baseline,
        rows,
        own.keySet().stream().filter(key -> !other.containsKey(key)).map(Key::name).toList(),
        other.keySet().stream().filter(key -> !own.containsKey(key)).map(Key::name).toList());
  }

  private Map<Key, RunContents.Cell> byKey(StoredRun run) {
    Map<Key, RunContents.Cell> cells = new LinkedHashMap<>();
    queries.cells(run).forEach(cell -> cells.putIfAbsent(Key.of(cell), cell));
    return cells;
  }

  /** What forbids a verdict between two runs. */
  private static List<String> obstacles(StoredRun subject, StoredRun baseline) {
    List<String> obstacles = new ArrayList<>();
    if (subject.hardware().isEmpty() || baseline.hardware().isEmpty()) {
      obstacles.add("it isn't known that both were made on the same hardware");
    } else if (!subject.hardware().equals(baseline.hardware())) {
      obstacles.add("made on different hardware");
    }
    if (!subject.model().sha256().equals(baseline.model().sha256())
        || !subject.model().weights().equals(baseline.model().weights())) {
      obstacles.add("the weights are different");
    }
    if (!subject.settings().equals(baseline.settings())) {
      obstacles.add("the settings are different");
    }
    return obstacles;
  }

  private Draft draft(Key key, RunContents.Cell own, RunContents.Cell other, List<String> ofRuns) {
    Summary.Cell subject = own.figures();
    Summary.Cell baseline = other.figures();
    List<String> obstacles = new ArrayList<>(ofRuns);
    if (subject.state().equals("failed") || baseline.state().equals("failed")) {
      obstacles.add("it failed in " + (subject.state().equals("failed") ? "this" : "the other"));
    }
    if (!subject.better().equals(baseline.better()) || !isDirected(subject)) {
      obstacles.add("it isn't known whether more or less is better");
    }
    Optional<FamilyVerdicts.Ratio> ratio = Optional.empty();
    if (isDirected(subject) && isPositive(subject) && isPositive(baseline)) {
      double[] a = forkMeans(own);
      double[] b = forkMeans(other);
      boolean higher = subject.better().equals("higher");
      ratio = Optional.of(level -> UnpairedRatio.of(a, b, higher, level));
    }
    return new Draft(key, subject, baseline, ratio, obstacles);
  }

  private static RunComparison.Row row(Draft draft, Verdict verdict, double margin) {
    Optional<Interval> interval = draft.ratio.flatMap(ratio -> ratio.interval(Intervals.LEVEL));
    List<String> said = new ArrayList<>(draft.obstacles);
    if (verdict == Verdict.INCONCLUSIVE && interval.isEmpty()) {
      said.add("an interval needs at least two processes on each side, and values above 0");
    } else if (verdict == Verdict.INCONCLUSIVE
        && Verdict.of(interval.orElseThrow(), margin) != Verdict.INCONCLUSIVE) {
      said.add("not sure enough as one of several ratios judged at once");
    }
    Summary.Cell subject = draft.subject;
    return new RunComparison.Row(
        draft.key.label,
        draft.key.metric,
        draft.key.model,
        draft.key.precision,
        draft.key.unit,
        subject.better(),
        subject.mean(),
        draft.baseline.mean(),
        interval.map(Interval::estimate).orElse(ofMeans(subject, draft.baseline)),
        interval.map(Interval::low).orElse(null),
        interval.map(Interval::high).orElse(null),
        verdict.label(),
        String.join("; ", said));
  }

  /** Null where there is no such ratio. */
  private static Double ofMeans(Summary.Cell subject, Summary.Cell baseline) {
    if (!isDirected(subject) || !isPositive(subject) || !isPositive(baseline)) {
      return null;
    }
    double ratio = subject.mean() / baseline.mean();
    return subject.better().equals("higher") ? ratio : 1 / ratio;
  }

  private static boolean isDirected(Summary.Cell cell) {
    return cell.better().equals("higher") || cell.better().equals("lower");
  }

  private static boolean isPositive(Summary.Cell cell) {
    return cell.mean() != null && cell.mean() > 0;
  }

  /** One mean a process, over its counted trials; empty where a value is not above 0. */
  private double[] forkMeans(RunContents.Cell cell) {
    record Fork(int block, int attempt, int fork) {}
    Map<Fork, List<Double>> forks = new LinkedHashMap<>();
    for (TimedValue value : queries.values(cell.number())) {
      if (value.isCountedTrial()) {
        forks
            .computeIfAbsent(
                new Fork(value.block(), value.attempt(), value.fork()), f -> new ArrayList<>())
            .add(value.value());
      }
    }
    double[][] values =
        forks.values().stream()
            .map(trials -> trials.stream().mapToDouble(Double::doubleValue).toArray())
            .toArray(double[][]::new);
    for (double[] trials : values) {
      for (double value : trials) {
        if (!(value > 0)) {
          return new double[0];
        }
      }
    }
    if (values.length == 0) {
      return new double[0];
    }
    return cell.figures().unit().equals(THROUGHPUT)
        ? rates(values).forkMeans()
        : Sample.of(values).forkMeans();
  }

  /** Every call of a cell has as many tokens: its time is the inverse of its rate. */
  private static Sample rates(double[][] values) {
    double[][] amounts = new double[values.length][];
    double[][] times = new double[values.length][];
    for (int fork = 0; fork < values.length; fork++) {
      amounts[fork] = new double[values[fork].length];
      times[fork] = new double[values[fork].length];
      for (int trial = 0; trial < values[fork].length; trial++) {
        amounts[fork][trial] = 1;
        times[fork][trial] = 1 / values[fork][trial];
      }
    }
    return Sample.rates(amounts, times);
  }
}
