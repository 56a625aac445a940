package io.steelyard.app;

import io.steelyard.app.AttentionCurves.Curve;
import io.steelyard.app.AttentionGrowth.Estimate;
import io.steelyard.engines.attention.AttentionProblem;
import io.steelyard.reports.Chart;
import io.steelyard.reports.DetailTable;
import io.steelyard.reports.LineChart;
import io.steelyard.reports.Page;
import io.steelyard.reports.terminal.Format;
import io.steelyard.stats.Interval;
import io.steelyard.stats.Intervals;
import io.steelyard.stats.Sample;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;

/**
 * Time, memory and speed-up of variants over the length, how each grows and where one overtakes
 * another.
 */
record AttentionPlot(AttentionCurves curves, List<String> given) {
  /** The name of its files. */
  static final String FILE = "plot";

  /** Further than this from what was measured a crossing says nothing. */
  private static final double FURTHEST = 64;

  /**
   * One variant at one length.
   *
   * @param speedup over the baseline; null of the baseline itself and where it has no such length
   * @param scratchBytes null where it wasn't counted
   */
  record Row(
      int length, String variant, Estimate milliseconds, Estimate speedup, Double scratchBytes) {}

  /** The exponent of the length in a variant's time. */
  record Exponent(String variant, int lengths, Estimate exponent) {}

  /**
   * Where one variant overtakes another.
   *
   * @param from the length from which it is faster
   * @param measured whether both were measured on either side of it
   */
  record Crossover(String faster, String than, Estimate from, boolean measured) {}

  /** All of it, as JSON. */
  record Document(
      String title,
      String baseline,
      List<Row> rows,
      List<Exponent> exponents,
      List<Crossover> crossovers,
      List<String> notes) {}

  Document document() {
    AttentionGrowth growth = new AttentionGrowth(curves);
    List<String> notes = new ArrayList<>(given);
    List<Exponent> exponents =
        growth.variants().stream()
            .map(v -> new Exponent(v, growth.lengths(v), growth.exponent(v)))
            .toList();
    for (Curve curve : curves.curves()) {
      if (!growth.variants().contains(curve.variant())) {
        int lengths = curve.nanos().size();
        notes.add(
            "%s was measured at %s: an exponent needs %d lengths in one block."
                .formatted(
                    curve.variant(),
                    lengths == 1 ? "one length only" : lengths + " lengths",
                    AttentionGrowth.LEAST_LENGTHS));
      }
    }
    return new Document(
        curves.title(), curves.baseline(), rows(), exponents, crossovers(growth), notes);
  }

  private List<Row> rows() {
    Optional<Curve> baseline =
        curves.curves().stream().filter(c -> c.variant().equals(curves.baseline())).findFirst();
    TreeSet<Integer> lengths = new TreeSet<>();
    curves.curves().forEach(curve -> lengths.addAll(curve.nanos().keySet()));
    List<Row> rows = new ArrayList<>();
    for (int length : lengths) {
      for (Curve curve : curves.curves()) {
        if (curve.nanos().containsKey(length)) {
          double[] nanos =
              curve.nanos().get(length).values().stream().mapToDouble(v -> v / 1e6).toArray();
          rows.add(
              new Row(
                  length,
                  curve.variant(),
                  estimate(
                      curve.meanNanos(length) / 1e6,
                      Intervals.mean(Sample.ofForks(nanos), curves.seed())),
                  baseline
                      .filter(b -> !b.equals(curve))
                      .map(b -> speedup(curve, b, length))
                      .orElse(null),
                  curve.scratchBytes().get(length)));
        }
      }
    }
    return rows;
  }

  /** What the run has judged, or else what the blocks say that have both. */
  private Estimate speedup(Curve curve, Curve baseline, int length) {
    if (curve.speedups().containsKey(length) || !baseline.nanos().containsKey(length)) {
      return curve.speedups().get(length);
    }
    NavigableMap<Integer, Double> own = new TreeMap<>(curve.nanos().get(length));
    NavigableMap<Integer, Double> other = new TreeMap<>(baseline.nanos().get(length));
    own.keySet().retainAll(other.keySet());
    other.keySet().retainAll(own.keySet());
    if (own.isEmpty()) {
      return null;
    }
    double[] subject = own.values().stream().mapToDouble(v -> v).toArray();
    double[] base = other.values().stream().mapToDouble(v -> v).toArray();
    return estimate(
        Sample.ofForks(base).mean() / Sample.ofForks(subject).mean(),
        Intervals.ratio(subject, base, false, curves.seed()));
  }

  private static Estimate estimate(double value, Optional<Interval> interval) {
    return new Estimate(
        value, interval.map(Interval::low).orElse(null), interval.map(Interval::high).orElse(null));
  }

  private List<Crossover> crossovers(AttentionGrowth growth) {
    List<Crossover> crossovers = new ArrayList<>();
    for (Curve curve : curves.curves()) {
      for (Curve other : curves.curves()) {
        int shortest = Math.max(curve.nanos().firstKey(), other.nanos().firstKey());
        int longest = Math.min(curve.nanos().lastKey(), other.nanos().lastKey());
        growth
            .crossover(curve.variant(), other.variant())
            .filter(at -> at.value() > shortest / FURTHEST && at.value() < longest * FURTHEST)
            .map(
                at ->
                    new Crossover(
                        curve.variant(),
                        other.variant(),
                        at,
                        at.value() >= shortest && at.value() <= longest))
            .ifPresent(crossovers::add);
      }
    }
    return crossovers;
  }

  /** The page about a document. */
  static Page page(Document document, String command) {
    return new Page(
        "Attention over the length",
        document.title(),
        document.notes(),
        charts(document),
        tables(document),
        command);
  }

  static List<DetailTable> tables(Document document) {
    List<DetailTable> tables = new ArrayList<>();
    tables.add(overLength(document));
    if (!document.exponents().isEmpty()) {
      tables.add(exponents(document));
    }
    if (!document.crossovers().isEmpty()) {
      tables.add(crossovers(document));
    }
    return tables;
  }

  private static DetailTable overLength(Document document) {
    List<List<String>> rows = new ArrayList<>();
    int last = 0;
    for (Row row : document.rows()) {
      boolean baseline = row.variant().equals(document.baseline());
      rows.add(
          List.of(
              row.length() == last ? "" : AttentionProblem.name(row.length()),
              row.variant(),
              Format.significant(row.milliseconds().value(), 3),
              interval(row.milliseconds(), 3),
              baseline
                  ? "1×"
                  : row.speedup() == null
                      ? "–"
                      : Format.significant(row.speedup().value(), 3) + "×",
              row.speedup() == null ? "" : interval(row.speedup(), 3),
              row.scratchBytes() == null ? "–" : Format.significant(row.scratchBytes() / 1e6, 3)));
      last = row.length();
    }
    return new DetailTable(
        "Over the length",
        List.of("length", "variant", "ms", "95 %", "speed-up", "95 %", "scratch MB"),
        rows,
        "Milliseconds of a forward pass; speed-up over "
            + (document.baseline().isEmpty() ? "nothing" : document.baseline())
            + "; scratch: the most memory that was held beside inputs and results. Intervals are"
            + " over blocks.");
  }

  private static DetailTable exponents(Document document) {
    return new DetailTable(
        "Growth with the length",
        List.of("variant", "lengths", "exponent", "95 %"),
        document.exponents().stream()
            .map(
                each ->
                    List.of(
                        each.variant(),
                        Integer.toString(each.lengths()),
                        Format.decimals(each.exponent().value(), 2),
                        each.exponent().low() == null
                            ? ""
                            : "[%s, %s]"
                                .formatted(
                                    Format.decimals(each.exponent().low(), 2),
                                    Format.decimals(each.exponent().high(), 2))))
            .toList(),
        "Exponent: the slope of a line through the logarithms of time and length, of each block by"
            + " itself; 1 where the time grows as the length does, 2 where as its square. Where"
            + " segments follow the length it mixes cost models.");
  }

  private static DetailTable crossovers(Document document) {
    return new DetailTable(
        "Where one overtakes another",
        List.of("variant", "is faster than", "from", "95 %", "where"),
        document.crossovers().stream()
            .map(
                each ->
                    List.of(
                        each.faster(),
                        each.than(),
                        Format.significant(each.from().value(), 2),
                        interval(each.from(), 2),
                        each.measured() ? "measured" : "extrapolated"))
            .toList(),
        "The length in tokens at which the two lines meet, of each block by itself. Pairs are left"
            + " out whose lines meet in some blocks only, or more than "
            + Format.compact(FURTHEST)
            + " times beyond what was measured.");
  }

  private static String interval(Estimate of, int digits) {
    return of.low() == null || of.high() == null
        ? ""
        : "[%s, %s]"
            .formatted(Format.significant(of.low(), digits), Format.significant(of.high(), digits));
  }

  private static List<Chart> charts(Document document) {
    List<Chart> charts = new ArrayList<>();
    chart(document, "plot-time", "Milliseconds of a forward pass", r -> r.milliseconds().value())
        .ifPresent(charts::add);
    chart(
            document,
            "plot-scratch",
            "Scratch memory in MB",
            r -> r.scratchBytes() == null ? Double.NaN : r.scratchBytes() / 1e6)
        .ifPresent(charts::add);
    chart(
            document,
            "plot-speed-up",
            "Speed-up over " + document.baseline(),
            r -> r.speedup() == null ? Double.NaN : r.speedup().value())
        .ifPresent(charts::add);
    return charts;
  }

  private static Optional<Chart> chart(
      Document document, String name, String title, ToDoubleFunction<Row> value) {
    Map<String, List<Row>> byVariant = new LinkedHashMap<>();
    for (Row row : document.rows()) {
      if (Double.isFinite(value.applyAsDouble(row))) {
        byVariant.computeIfAbsent(row.variant(), _ -> new ArrayList<>()).add(row);
      }
    }
    List<LineChart.Line> lines = new ArrayList<>();
    byVariant.forEach(
        (variant, rows) ->
            lines.add(
                new LineChart.Line(
                    variant,
                    rows.stream().mapToDouble(Row::length).toArray(),
                    rows.stream().mapToDouble(value).toArray())));
    return lines.isEmpty()
        ? Optional.empty()
        : Optional.of(new LineChart(name, title, document.title(), "tokens", lines));
  }
}
