package io.steelyard.reports;

import io.steelyard.lab.record.Summary;
import io.steelyard.lab.record.Summary.FairnessLine;
import io.steelyard.reports.terminal.Style;
import io.steelyard.reports.terminal.Table;
import io.steelyard.reports.terminal.Table.Align;
import io.steelyard.reports.terminal.Table.Cell;
import io.steelyard.reports.terminal.Tone;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * What was equal between the labels, what differed by design, and what differed without reason. A
 * column a label where they fit; else a line a value, with the labels that have it.
 */
public final class FairnessTable {

  private static final Pattern CHECKSUM = Pattern.compile("\\b([0-9a-f]{12})[0-9a-f]{20,}\\b");

  private FairnessTable() {}

  /** The table as text, no line wider than the style. */
  public static String render(Summary summary, Style style) {
    if (summary.fairness().isEmpty()) {
      return "There is nothing to compare.\n";
    }
    Table sideBySide = sideBySide(summary, style);
    Table table = sideBySide.naturalWidth() <= style.width() ? sideBySide : byValue(summary, style);
    return table.render() + ComparisonTable.randomWeights(summary, style);
  }

  /** All labels that any line names, in the order of their first mention. */
  static List<String> labels(Summary summary) {
    return summary.fairness().stream()
        .flatMap(line -> line.values().keySet().stream())
        .distinct()
        .toList();
  }

  /** A value for people: a long checksum by its first twelve digits. */
  static String value(FairnessLine line, String label) {
    String value = line.values().get(label);
    return value == null ? "–" : CHECKSUM.matcher(value).replaceAll("$1…");
  }

  private static Table sideBySide(Summary summary, Style style) {
    List<String> labels = labels(summary);
    Table table = new Table(style).column("fairness", Align.LEFT);
    labels.forEach(label -> table.column(label, Align.LEFT));
    table.column("state", Align.LEFT);
    for (FairnessLine line : summary.fairness()) {
      List<Cell> cells = new ArrayList<>();
      cells.add(Cell.of(line.line()));
      labels.forEach(label -> cells.add(Cell.of(value(line, label))));
      cells.add(state(line));
      table.row(cells.toArray(Cell[]::new));
    }
    return table;
  }

  private static Table byValue(Summary summary, Style style) {
    Table table =
        new Table(style)
            .column("fairness", Align.LEFT)
            .column("state", Align.LEFT)
            .column("value", Align.LEFT)
            .column("engines", Align.LEFT);
    for (FairnessLine line : summary.fairness()) {
      Map<String, List<String>> labelsByValue = new LinkedHashMap<>();
      for (String label : labels(summary)) {
        labelsByValue.computeIfAbsent(value(line, label), v -> new ArrayList<>()).add(label);
      }
      Cell name = Cell.of(line.line());
      Cell state = state(line);
      for (Map.Entry<String, List<String>> entry : labelsByValue.entrySet()) {
        String who = labelsByValue.size() == 1 ? "all" : String.join("\n", entry.getValue());
        table.row(name, state, Cell.of(entry.getKey()), Cell.of(who));
        name = Cell.of("");
        state = Cell.of("");
      }
    }
    return table;
  }

  private static Cell state(FairnessLine line) {
    Tone tone =
        switch (line.state()) {
          case "equal" -> Tone.GOOD;
          case "different" -> Tone.BAD;
          default -> Tone.INFO;
        };
    return new Cell(line.state(), tone);
  }
}
