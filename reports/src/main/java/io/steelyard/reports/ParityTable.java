package io.steelyard.reports;

import io.steelyard.lab.record.Summary;
import io.steelyard.lab.record.Summary.Parity;
import io.steelyard.reports.terminal.Format;
import io.steelyard.reports.terminal.Style;
import io.steelyard.reports.terminal.Table;
import io.steelyard.reports.terminal.Table.Align;
import io.steelyard.reports.terminal.Table.Cell;
import io.steelyard.reports.terminal.Tone;
import java.util.ArrayList;
import java.util.List;

/** How far each label's outputs are from the oracle's. */
public final class ParityTable {

  static final List<String> HEADERS =
      List.of(
          "engine", "tokens", "mean KL", "p99 KL", "top-1", "max |Δ|", "ppl", "needs KL", "parity");

  private ParityTable() {}

  /**
   * The table as text, no line wider than the style. {@code needs KL} is the smallest bound on the
   * mean KL that the label would pass; {@code ppl} is the perplexity's ratio to the oracle's.
   */
  public static String render(Summary summary, Style style) {
    if (summary.parity().isEmpty()) {
      return "Parity was not checked.\n";
    }
    Table table = new Table(style);
    for (int i = 0; i < HEADERS.size(); i++) {
      boolean figure = i >= 2 && i <= 7;
      table.column(HEADERS.get(i), figure ? Align.RIGHT : Align.LEFT);
    }
    for (Parity parity : summary.parity()) {
      List<Cell> cells =
          new ArrayList<>(
              texts(summary, parity).stream()
                  .map(text -> Cell.of(text.replace(" %", Table.NO_BREAK + "%")))
                  .toList());
      cells.set(
          HEADERS.size() - 1,
          new Cell(cells.getLast().text(), parity.pass() ? Tone.GOOD : Tone.BAD));
      table.row(cells.toArray(Cell[]::new));
      if (parity.note() != null && !parity.note().isBlank()) {
        table.note(0, parity.note(), Tone.DIM);
      }
    }
    return table.render() + ComparisonTable.randomWeights(summary, style);
  }

  static List<String> texts(Summary summary, Parity parity) {
    boolean severalPrecisions =
        summary.parity().stream().map(Parity::precision).distinct().count() > 1;
    return List.of(
        severalPrecisions ? parity.label() + " " + parity.precision() : parity.label(),
        parity.tokensEqual() ? "equal" : "differ",
        small(parity.kldMean()),
        small(parity.kldP99()),
        parity.top1() == null ? "–" : Format.percent(parity.top1(), 1),
        parity.maxAbs() == null ? "–" : Format.significant(parity.maxAbs(), 2),
        parity.perplexity().map(p -> Format.decimals(p.ratio(), 4) + "×").orElse("–"),
        small(parity.toleranceThatPasses()),
        parity.pass() ? "pass" : "FAIL");
  }

  private static String small(Double value) {
    return value == null ? "–" : Format.scientific(value, 2);
  }
}
