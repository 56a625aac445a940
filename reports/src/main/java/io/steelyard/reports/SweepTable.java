package io.steelyard.reports;

import io.steelyard.lab.record.Summary;
import io.steelyard.lab.record.Summary.Cell;
import io.steelyard.lab.record.Summary.Comparison;
import io.steelyard.reports.terminal.Style;
import io.steelyard.reports.terminal.Table;
import io.steelyard.reports.terminal.Table.Align;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** All studies of a sweep in one table, a row a metric and engine. */
public final class SweepTable {
  /**
   * A study of a sweep.
   *
   * @param model the model, as asked for
   * @param values what else tells it from the others, by option
   * @param summary what it found
   */
  public record Study(String model, Map<String, String> values, Summary summary) {}

  /** The last columns of every row. */
  private static final List<String> FOUND =
      List.of("metric", "engine", "value", "ratio", "verdict");

  /** What the figures are. */
  static final String LEGEND =
      "95 % intervals over forks. A ratio above 1× is better than the baseline, whatever the unit.";

  private SweepTable() {}

  /** As text, no line wider than the style. */
  public static String render(List<Study> studies, Style style) {
    List<String> headers = headers(studies);
    Table table = new Table(style);
    for (String header : headers) {
      table.column(header, isFigure(header) ? Align.RIGHT : Align.LEFT);
    }
    for (List<String> row : rows(studies)) {
      table.row(row.stream().map(Table.Cell::of).toArray(Table.Cell[]::new));
    }
    return table.render();
  }

  /** As Markdown. */
  public static String markdown(List<Study> studies) {
    return "# Sweep\n\n" + markdownTable(studies);
  }

  /** The table and what it means. */
  static String markdownTable(List<Study> studies) {
    List<String> headers = headers(studies);
    List<Boolean> right = headers.stream().map(SweepTable::isFigure).toList();
    return Markdown.table(
            headers,
            right,
            rows(studies).stream().map(row -> row.stream().map(Markdown::text).toList()).toList())
        + "\n"
        + LEGEND
        + "\n";
  }

  /** Whether the cells of a column are numbers, aligned at the right. */
  static boolean isFigure(String header) {
    return header.equals("value") || header.equals("ratio");
  }

  private static Set<String> options(List<Study> studies) {
    Set<String> options = new LinkedHashSet<>();
    studies.forEach(study -> options.addAll(study.values().keySet()));
    return options;
  }

  /** The names of the columns. */
  static List<String> headers(List<Study> studies) {
    List<String> headers = new ArrayList<>(List.of("model"));
    headers.addAll(options(studies));
    headers.addAll(FOUND);
    return headers;
  }

  /** A list of texts a row, one a column. */
  static List<List<String>> rows(List<Study> studies) {
    List<List<String>> rows = new ArrayList<>();
    for (Study study : studies) {
      for (Cell cell : study.summary().cells()) {
        Optional<Comparison> comparison =
            study.summary().comparisons().stream()
                .filter(c -> c.metric().equals(cell.metric()) && c.subject().equals(cell.label()))
                .findFirst();
        List<String> row = new ArrayList<>(List.of(study.model()));
        options(studies).forEach(option -> row.add(study.values().getOrDefault(option, "")));
        row.addAll(
            List.of(
                cell.metric(),
                cell.label(),
                cell.mean() == null
                    ? "–"
                    : Figure.plusMinus(cell.mean(), cell.low(), cell.high()).text("")
                        + " "
                        + cell.unit(),
                comparison
                    .filter(c -> c.ratio() != null)
                    .map(c -> Figure.brackets(c.ratio(), c.low(), c.high()).text("×"))
                    .orElse(""),
                comparison.map(Comparison::verdict).orElse("")));
        rows.add(row);
      }
    }
    return rows;
  }
}
