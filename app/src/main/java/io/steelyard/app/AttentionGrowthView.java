package io.steelyard.app;

import io.steelyard.engines.attention.AttentionProblem;
import io.steelyard.lab.metric.Metric;
import io.steelyard.lab.record.Blocks;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.reports.DetailTable;
import io.steelyard.reports.terminal.Format;
import io.steelyard.stats.Interval;
import io.steelyard.stats.Intervals;
import io.steelyard.stats.Sample;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/** How the time of variants of attention grows with the length, and where they overtake. */
record AttentionGrowthView(List<Row> rows) implements StudyView {
  /** Fewer lengths fit any line. */
  private static final int LEAST_LENGTHS = 3;

  /**
   * One variant.
   *
   * @param exponent of the length in the time, the slope of a line through the logarithms of both
   * @param low lower bound of its 95 % interval over blocks; null where there is none
   * @param high upper bound; null likewise
   * @param crossover length from which on the variant is faster than the baseline, where the two
   *     lines meet; null of the baseline and where they don't meet
   * @param crossoverLow lower bound of its interval; null likewise
   * @param crossoverHigh upper bound; null likewise
   */
  record Row(
      String variant,
      int lengths,
      double exponent,
      Double low,
      Double high,
      Double crossover,
      Double crossoverLow,
      Double crossoverHigh) {}

  /** {@code log(time) = slope · log(length) + constant}. */
  private record Line(double slope, double constant) {
    static Line through(Map<Double, Double> points) {
      double n = points.size();
      double meanX =
          points.keySet().stream().mapToDouble(Double::doubleValue).average().orElseThrow();
      double meanY =
          points.values().stream().mapToDouble(Double::doubleValue).average().orElseThrow();
      double products = 0;
      double squares = 0;
      for (Map.Entry<Double, Double> point : points.entrySet()) {
        products += (point.getKey() - meanX) * (point.getValue() - meanY);
        squares += (point.getKey() - meanX) * (point.getKey() - meanX);
      }
      double slope = n < 2 ? Double.NaN : products / squares;
      return new Line(slope, meanY - slope * meanX);
    }

    /** Where a line that begins higher falls below another. */
    OptionalDouble fallsBelow(Line other) {
      double at = (constant - other.constant) / (other.slope - slope);
      return slope < other.slope && Double.isFinite(at)
          ? OptionalDouble.of(at)
          : OptionalDouble.empty();
    }
  }

  static Optional<StudyView> of(RunDirectory directory, StudyRun.Outcome outcome) {
    Study study = directory.plan();
    if (study.engines().values().stream()
        .noneMatch(engine -> engine.name().equals(AttentionProblem.ENGINE))) {
      return Optional.empty();
    }
    Map<String, List<Line>> lines = new TreeMap<>();
    for (String label : study.engines().keySet()) {
      lines.put(label, lines(study, outcome, label));
    }
    List<Row> rows = new ArrayList<>();
    for (String label : study.engines().keySet()) {
      if (!lines.get(label).isEmpty()) {
        rows.add(
            row(
                label,
                measured(study, label),
                lines.get(label),
                label.equals(study.baseline()) ? List.of() : lines.get(study.baseline()),
                study.design().seed()));
      }
    }
    return rows.isEmpty() ? Optional.empty() : Optional.of(new AttentionGrowthView(rows));
  }

  private static int measured(Study study, String label) {
    return (int)
        study.workloads().stream()
            .filter(workload -> !study.leavesOut(new Cell(label, workload)))
            .count();
  }

  /** A line for each block in which every length was measured. */
  private static List<Line> lines(Study study, StudyRun.Outcome outcome, String label) {
    List<Line> lines = new ArrayList<>();
    if (measured(study, label) < LEAST_LENGTHS) {
      return lines;
    }
    for (Blocks.Block block : outcome.blocks().all()) {
      Map<Double, Double> points = new TreeMap<>();
      for (Metric metric : Metric.of(study)) {
        ForkRecord fork = block.forks().get(new Cell(label, metric.workload()).id());
        if (fork != null && fork.sound()) {
          double length = AttentionProblem.length(metric.workload().title());
          points.put(Math.log(length), Math.log(metric.sample(List.of(fork)).mean()));
        }
      }
      if (points.size() == measured(study, label)) {
        lines.add(Line.through(points));
      }
    }
    return lines;
  }

  private static Row row(
      String label, int lengths, List<Line> own, List<Line> baseline, long seed) {
    Optional<Interval> exponent = interval(own, Line::slope, seed);
    List<Double> crossings = new ArrayList<>();
    for (int i = 0; i < Math.min(own.size(), baseline.size()); i++) {
      own.get(i).fallsBelow(baseline.get(i)).ifPresent(crossings::add);
    }
    boolean crosses = !crossings.isEmpty() && crossings.size() == own.size();
    Optional<Interval> crossover =
        crosses ? interval(crossings, Double::doubleValue, seed) : Optional.empty();
    return new Row(
        label,
        lengths,
        own.stream().mapToDouble(Line::slope).average().orElseThrow(),
        exponent.map(Interval::low).orElse(null),
        exponent.map(Interval::high).orElse(null),
        crosses
            ? Double.valueOf(
                Math.exp(
                    crossings.stream().mapToDouble(Double::doubleValue).average().orElseThrow()))
            : null,
        crossover.map(Interval::low).map(Math::exp).orElse(null),
        crossover.map(Interval::high).map(Math::exp).orElse(null));
  }

  private static <T> Optional<Interval> interval(List<T> of, ToDoubleFunction<T> value, long seed) {
    return Intervals.mean(Sample.ofForks(of.stream().mapToDouble(value).toArray()), seed);
  }

  @Override
  public String name() {
    return "growth";
  }

  @Override
  public DetailTable table() {
    return new DetailTable(
        "Growth with the length",
        List.of("variant", "lengths", "exponent", "95 %", "faster from", "95 %"),
        rows.stream()
            .map(
                row ->
                    List.of(
                        row.variant(),
                        Integer.toString(row.lengths()),
                        Format.decimals(row.exponent(), 2),
                        row.low() == null
                            ? ""
                            : "[%s, %s]"
                                .formatted(
                                    Format.decimals(row.low(), 2), Format.decimals(row.high(), 2)),
                        row.crossover() == null ? "" : tokens(row.crossover()),
                        row.crossoverLow() == null
                            ? ""
                            : "[%s, %s]"
                                .formatted(
                                    tokens(row.crossoverLow()), tokens(row.crossoverHigh()))))
            .toList(),
        "Exponent: the slope of a line through the logarithms of time and length, of each block by"
            + " itself; 1 where the time grows as the length does, 2 where as its square. Faster"
            + " from: the length at which the variant's line falls below the baseline's, which may"
            + " lie outside of what was measured. Where segments follow the length the exponent"
            + " mixes cost models.");
  }

  private static String tokens(double length) {
    return Format.significant(length, 2);
  }
}
