package io.steelyard.reports;

import io.steelyard.lab.record.Summary;
import io.steelyard.lab.record.Summary.Cell;
import io.steelyard.lab.record.Summary.Comparison;
import io.steelyard.reports.terminal.Format;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** What a run found, a sentence a comparison. */
public final class Headlines {

  private Headlines() {}

  /**
   * The sentences, such as <i>llamacpp is 1.84× [1.80, 1.88] as fast as steelyard at pp512.</i>
   *
   * @param margin the change that matters, such as 0.02
   */
  public static List<String> of(Summary summary, double margin) {
    return summary.comparisons().stream()
        .map(comparison -> sentence(summary, comparison, margin))
        .toList();
  }

  private static String sentence(Summary summary, Comparison comparison, double margin) {
    String unit =
        summary.cells().stream()
            .filter(cell -> cell.metric().equals(comparison.metric()))
            .map(Cell::unit)
            .findFirst()
            .orElse("");
    boolean severalPrecisions =
        summary.cells().stream().map(Cell::precision).distinct().count() > 1;
    String subject =
        severalPrecisions
            ? comparison.subject() + " (" + comparison.precision() + ")"
            : comparison.subject();
    String pair = subject + " and " + comparison.baseline();
    String metric = " at " + comparison.metric();
    String caveats = String.join("; ", caveats(summary, comparison));
    if (comparison.ratio() == null) {
      return "No ratio of " + pair + metric + (caveats.isEmpty() ? "." : ": " + caveats + ".");
    }
    String behind = caveats.isEmpty() ? "." : " (" + caveats + ").";
    String claim = claim(subject, comparison, unit);
    return switch (comparison.verdict()) {
      case "faster", "slower" -> claim + behind;
      case "equivalent" -> claim + ": equivalent" + within(comparison, margin) + behind;
      case "not comparable" ->
          pair + " are not comparable" + metric + (caveats.isEmpty() ? "." : ": " + caveats + ".");
      default -> claim + ": inconclusive" + behind;
    };
  }

  /** A metric may be judged by a wider margin than the others; its note tells. */
  private static String within(Comparison comparison, double margin) {
    return comparison.low() >= 1 - margin && comparison.high() <= 1 + margin
        ? ", within ±" + Format.compact(100 * margin) + " %"
        : "";
  }

  /** What a reader who reads no further must know. */
  private static List<String> caveats(Summary summary, Comparison comparison) {
    List<String> caveats = new ArrayList<>();
    if (comparison.note() != null && !comparison.note().isBlank()) {
      caveats.add(comparison.note());
    }
    if (comparison.ratio() != null && (comparison.low() == null || comparison.high() == null)) {
      caveats.add("no interval from " + Format.count(comparison.blocks(), "block"));
    }
    String unsteady =
        summary.cells().stream()
            .filter(cell -> cell.state().equals("no steady state"))
            .filter(cell -> Rows.isOf(comparison, cell))
            .map(Cell::label)
            .filter(
                label -> label.equals(comparison.subject()) || label.equals(comparison.baseline()))
            .distinct()
            .collect(Collectors.joining(" and "));
    if (!unsteady.isEmpty()) {
      caveats.add(unsteady + " reached no steady state");
    }
    if (Rows.randomWeights(summary)) {
      caveats.add("random weights");
    }
    return caveats;
  }

  private static String claim(String subject, Comparison comparison, String unit) {
    boolean bytes = Figure.Scale.isBytes(unit);
    Figure figure =
        bytes
            // Bytes are said as they are: the record's ratio is turned so that less is more.
            ? Figure.brackets(
                1 / comparison.ratio(), inverse(comparison.high()), inverse(comparison.low()))
            : Figure.brackets(comparison.ratio(), comparison.low(), comparison.high());
    return subject
        + (bytes ? " needs " : " is ")
        + figure.text("×")
        + (bytes ? " as many bytes as " : " as fast as ")
        + comparison.baseline()
        + " at "
        + comparison.metric();
  }

  private static Double inverse(Double bound) {
    return bound == null ? null : Double.valueOf(1 / bound);
  }
}
