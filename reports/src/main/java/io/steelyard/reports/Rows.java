package io.steelyard.reports;

import io.steelyard.lab.record.Summary;
import io.steelyard.lab.record.Summary.Cell;
import io.steelyard.lab.record.Summary.Comparison;
import io.steelyard.reports.terminal.Format;
import io.steelyard.reports.terminal.Tone;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The comparison in words and figures, before any layout: what the terminal's table, Markdown and
 * plots show alike.
 */
final class Rows {

  /**
   * One label of one metric. {@code verdict} is {@code baseline} on the baseline's row; {@code
   * share} of the roofline is empty where there is none.
   */
  record Row(
      String label,
      Figure value,
      String unit,
      String share,
      Figure ratio,
      String verdict,
      boolean baseline,
      List<String> notes) {}

  /** The rows of one metric, the baseline first. */
  record Group(String metric, boolean higherIsBetter, List<Row> rows) {}

  private final Summary summary;
  private final boolean severalPrecisions;
  private final boolean severalModels;

  private Rows(Summary summary) {
    this.summary = summary;
    severalPrecisions = summary.cells().stream().map(Cell::precision).distinct().count() > 1;
    severalModels = summary.cells().stream().map(Cell::model).distinct().count() > 1;
  }

  /** The groups in the order in which the summary first names their metrics. */
  static List<Group> of(Summary summary) {
    return new Rows(summary).groups();
  }

  /** Whether anything was compared: else there are neither ratios nor verdicts to show. */
  static boolean compares(Summary summary) {
    return !summary.comparisons().isEmpty();
  }

  /** Whether any row has a share of the roofline. */
  static boolean hasShares(Summary summary) {
    return summary.cells().stream().anyMatch(cell -> cell.roofline() != null);
  }

  static boolean randomWeights(Summary summary) {
    return "random".equals(summary.weights());
  }

  /** The verdict as people read it: of bytes one is smaller or larger, not faster or slower. */
  static String verdict(Comparison comparison, String unit) {
    if (!Figure.Scale.isBytes(unit)) {
      return comparison.verdict();
    }
    return switch (comparison.verdict()) {
      case "faster" -> "smaller";
      case "slower" -> "larger";
      default -> comparison.verdict();
    };
  }

  static Tone tone(String verdict) {
    return switch (verdict) {
      case "faster", "smaller" -> Tone.GOOD;
      case "slower", "larger", "failed" -> Tone.BAD;
      case "inconclusive", "not comparable" -> Tone.WARN;
      case "equivalent" -> Tone.INFO;
      default -> Tone.DIM;
    };
  }

  private List<Group> groups() {
    Map<String, List<Cell>> byMetric = new LinkedHashMap<>();
    for (Cell cell : summary.cells()) {
      String key = severalModels ? cell.metric() + " " + cell.model() : cell.metric();
      byMetric.computeIfAbsent(key, k -> new ArrayList<>()).add(cell);
    }
    List<Group> groups = new ArrayList<>();
    byMetric.forEach((metric, cells) -> groups.add(group(metric, cells)));
    return groups;
  }

  private Group group(String metric, List<Cell> cells) {
    DoubleSummaryStatistics means =
        cells.stream()
            .filter(cell -> cell.mean() != null)
            .mapToDouble(Cell::mean)
            .summaryStatistics();
    Figure.Scale scale = Figure.Scale.of(cells.getFirst().unit(), means.getMin(), means.getMax());
    List<Row> rows =
        cells.stream()
            .map(cell -> row(cell, scale))
            .sorted(Comparator.comparing((Row row) -> !row.baseline()))
            .toList();
    return new Group(metric, "higher".equals(cells.getFirst().better()), rows);
  }

  private Row row(Cell cell, Figure.Scale scale) {
    Optional<Comparison> comparison =
        summary.comparisons().stream()
            .filter(c -> c.subject().equals(cell.label()) && isOf(c, cell))
            .filter(c -> c.precision().equals(cell.precision()))
            .findFirst();
    boolean baseline =
        comparison.isEmpty()
            && summary.comparisons().stream()
                .anyMatch(c -> c.baseline().equals(cell.label()) && isOf(c, cell));
    boolean failed = cell.state().equals("failed");
    Figure value =
        failed
            ? Figure.NONE
            : Figure.plusMinus(
                scale.apply(cell.mean()), scale.apply(cell.low()), scale.apply(cell.high()));
    Figure ratio =
        comparison.map(c -> Figure.brackets(c.ratio(), c.low(), c.high())).orElse(Figure.NONE);
    String verdict =
        failed
            ? "failed"
            : comparison.map(c -> verdict(c, cell.unit())).orElse(baseline ? "baseline" : "–");
    String label = severalPrecisions ? cell.label() + " " + cell.precision() : cell.label();
    return new Row(
        randomWeights(summary) ? label + " †" : label,
        value,
        value.isMeasured() ? scale.unit() : "",
        cell.roofline() == null ? "" : Format.percent(cell.roofline(), 0),
        ratio,
        verdict,
        baseline,
        notes(cell, comparison));
  }

  static boolean isOf(Comparison comparison, Cell cell) {
    return comparison.metric().equals(cell.metric()) && comparison.model().equals(cell.model());
  }

  private static List<String> notes(Cell cell, Optional<Comparison> comparison) {
    List<String> notes = new ArrayList<>();
    if (cell.state().equals("no steady state")) {
      notes.add("no steady state: the interval is no promise");
    }
    if (cell.mean() != null && cell.low() == null && !cell.state().equals("failed")) {
      notes.add("no interval from " + Format.count(cell.forks(), "fork"));
    }
    comparison
        .map(Comparison::note)
        .filter(note -> note != null && !note.isBlank())
        .ifPresent(notes::add);
    return notes;
  }
}
