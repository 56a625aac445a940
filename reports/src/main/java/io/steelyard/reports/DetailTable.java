package io.steelyard.reports;

import io.steelyard.reports.terminal.Style;
import io.steelyard.reports.terminal.Table;
import io.steelyard.reports.terminal.Table.Align;
import io.steelyard.reports.terminal.Tone;
import io.steelyard.reports.terminal.Wrap;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A further table of {@code report.md}: what a figure consists of, a column a label.
 *
 * @param title its heading
 * @param headers the first one over the names of the rows
 * @param rows as many cells each as there are headers
 * @param explanation what the rows mean, in sentences
 */
public record DetailTable(
    String title, List<String> headers, List<List<String>> rows, String explanation) {
  public DetailTable {
    headers = List.copyOf(headers);
    rows = rows.stream().map(List::copyOf).toList();
    for (List<String> row : rows) {
      if (row.size() != headers.size()) {
        throw new IllegalArgumentException(
            "a row of " + row.size() + " cells under " + headers.size() + " headers");
      }
    }
  }

  /** Whether a column holds numbers, which stand at its right, rather than words alone. */
  boolean ofNumbers(int column) {
    return column > 0
        && (rows.stream().anyMatch(row -> isNumber(row.get(column)))
            || rows.stream().noneMatch(row -> isWord(row.get(column))));
  }

  private static boolean isNumber(String cell) {
    return !cell.isEmpty()
        && (Character.isDigit(cell.charAt(0)) || "([-+±<".indexOf(cell.charAt(0)) >= 0);
  }

  private static boolean isWord(String cell) {
    return !cell.isEmpty() && Character.isLetter(cell.charAt(0));
  }

  /**
   * The table as text, no line wider than the style, with its title above and what it means below.
   */
  public String render(Style style) {
    Table table = new Table(style);
    for (int i = 0; i < headers.size(); i++) {
      table.column(headers.get(i), ofNumbers(i) ? Align.RIGHT : Align.LEFT);
    }
    rows.forEach(row -> table.row(row.toArray(String[]::new)));
    String below =
        Wrap.lines(style.adapt(explanation), style.width()).stream()
            .map(line -> style.paint(line, Tone.DIM) + '\n')
            .collect(Collectors.joining());
    return style.paint(style.adapt(title), Tone.BOLD) + "\n" + table.render() + '\n' + below;
  }
}
