package io.steelyard.reports;

import io.steelyard.lab.record.Summary;
import io.steelyard.lab.record.Summary.Quality;
import io.steelyard.reports.terminal.Format;
import io.steelyard.reports.terminal.Style;
import io.steelyard.reports.terminal.Table;
import io.steelyard.reports.terminal.Table.Align;
import io.steelyard.reports.terminal.Tone;
import io.steelyard.reports.terminal.Wrap;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** What each precision of a model costs and what it loses, a row a precision. */
public final class QualityTable {
  private QualityTable() {}

  /** The table as text, no line wider than the style; nothing where no precisions were compared. */
  public static String render(Summary summary, Style style) {
    if (summary.quality().isEmpty()) {
      return "";
    }
    Table table = new Table(style);
    for (String header : headers(summary)) {
      table.column(header, header.equals("precision") ? Align.LEFT : Align.RIGHT);
    }
    rows(summary)
        .forEach(
            row ->
                table.row(
                    row.stream()
                        .map(text -> Table.Cell.of(text.replace(' ', Table.NO_BREAK)))
                        .toArray(Table.Cell[]::new)));
    String legend =
        Wrap.lines(style.adapt(legend(summary)), style.width()).stream()
            .map(line -> style.paint(line, Tone.DIM) + '\n')
            .collect(Collectors.joining());
    return table.render() + '\n' + legend + ComparisonTable.randomWeights(summary, style);
  }

  private static List<String> metrics(Summary summary) {
    return summary.cells().stream().map(Summary.Cell::metric).distinct().toList();
  }

  static List<String> headers(Summary summary) {
    List<String> headers = new ArrayList<>(List.of("precision", "file"));
    // Units stand here, so that a common terminal has room for all columns.
    metrics(summary).forEach(metric -> headers.add(metric + unit(summary, metric)));
    headers.addAll(List.of("ppl ratio", "mean KL", "top-1 %", "text %", "agreed %"));
    return headers;
  }

  static List<List<String>> rows(Summary summary) {
    List<List<String>> rows = new ArrayList<>();
    for (Quality quality : summary.quality().orElse(List.of())) {
      List<String> row = new ArrayList<>();
      boolean named = quality.source() && !quality.label().equals("source");
      row.add(quality.label() + (named ? " (source)" : ""));
      row.add(Format.bytes(quality.bytes()));
      metrics(summary).forEach(metric -> row.add(value(summary, quality.label(), metric)));
      row.add(
          Format.decimals(quality.ratio(), 4)
              + (quality.source() ? "" : " ± " + Format.decimals(quality.ratioError(), 4)));
      row.add(Format.scientific(quality.kldMean(), 2));
      row.add(Format.decimals(100 * quality.top1(), 1));
      row.add(Format.decimals(100 * quality.similarity(), 0));
      row.add(Format.decimals(100 * quality.agreed(), 0));
      rows.add(row);
    }
    return rows;
  }

  private static String value(Summary summary, String label, String metric) {
    return cell(summary, label, metric)
        .filter(cell -> cell.mean() != null)
        .map(cell -> Format.significant(cell.mean(), cell.mean() >= 1000 ? 4 : 3))
        .orElse("–");
  }

  private static String unit(Summary summary, String metric) {
    return summary.cells().stream()
        .filter(cell -> cell.metric().equals(metric))
        .map(cell -> " " + cell.unit())
        .findFirst()
        .orElse("");
  }

  static Optional<Summary.Cell> cell(Summary summary, String label, String metric) {
    return summary.cells().stream()
        .filter(cell -> cell.label().equals(label) && cell.metric().equals(metric))
        .findFirst();
  }

  static String legend(Summary summary) {
    long tokens = summary.quality().orElseThrow().getFirst().tokens();
    return "Against the source, on "
        + Format.count(tokens)
        + " tokens of Steelyard's text: ratio of the perplexities (above 1 is worse, ± standard"
        + " error), mean KL divergence in nats, share of positions with the same most likely token."
        + " Text: 1 − edits ÷ length of what both generate greedily, in tokens; agreed: the share"
        + " before the first other token.";
  }
}
