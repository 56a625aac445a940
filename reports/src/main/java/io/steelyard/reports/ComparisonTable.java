package io.steelyard.reports;

import io.steelyard.lab.record.Summary;
import io.steelyard.lab.record.Summary.Comparison;
import io.steelyard.reports.terminal.DisplayWidth;
import io.steelyard.reports.terminal.Format;
import io.steelyard.reports.terminal.Style;
import io.steelyard.reports.terminal.Table;
import io.steelyard.reports.terminal.Table.Align;
import io.steelyard.reports.terminal.Table.Cell;
import io.steelyard.reports.terminal.Tone;
import io.steelyard.reports.terminal.Wrap;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The table that {@code compare} ends in: each metric of each label with its 95 % interval, its
 * share of the roofline where that is known, the ratio to the baseline with its own interval, and
 * the verdict. Without a baseline the last two are left out.
 */
public final class ComparisonTable {

  static final String RANDOM_WEIGHTS =
      "† random weights: speed and memory are measured, the generated text means nothing";

  private ComparisonTable() {}

  /** The table as text, no line wider than the style. */
  public static String render(Summary summary, Style style) {
    List<Rows.Group> groups = Rows.of(summary);
    if (groups.isEmpty()) {
      return "Nothing was measured.\n";
    }
    boolean compares = Rows.compares(summary);
    boolean shares = Rows.hasShares(summary);
    Table table = new Table(style);
    table.column("metric", Align.LEFT).column("engine", Align.LEFT).column("value", Align.LEFT);
    if (shares) {
      // In two lines, since the figures below are as narrow as either.
      table.column("of\nlimit", Align.RIGHT);
    }
    if (compares) {
      table.column(ratioHeader(summary), Align.LEFT).column("verdict", Align.LEFT);
    }
    int numbers = widest(groups, false);
    int ratios = widest(groups, true);
    for (Rows.Group group : groups) {
      String metric = group.metric();
      for (Rows.Row row : group.rows()) {
        table.row(cells(metric, row, numbers, ratios, shares, compares));
        row.notes().forEach(note -> table.note(1, note, Tone.DIM));
        metric = "";
      }
      if (group.rows().size() > 1) {
        table.gap();
      }
    }
    String legend = "95 % intervals over forks.";
    if (compares) {
      legend += " A ratio above 1× is better than the baseline, whatever the unit.";
    }
    if (shares) {
      legend += " Of limit: share of the speed that the machine's measured limits allow.";
    }
    String disturbed = disturbed(summary);
    if (!disturbed.isEmpty()) {
      legend += " " + disturbed;
    }
    return table.render() + '\n' + dim(legend, style) + randomWeights(summary, style);
  }

  /** How often the machine was disturbed, in a sentence; empty where it never was. */
  static String disturbed(Summary summary) {
    int blocks = summary.cells().stream().mapToInt(Summary.Cell::disturbed).max().orElse(0);
    return blocks == 0
        ? ""
        : Format.count(blocks, "block")
            + " measured again because the machine was disturbed; if the second attempt was"
            + " disturbed too, it counts as it is.";
  }

  /** The line that every table ends in if the weights were drawn at random; else nothing. */
  static String randomWeights(Summary summary, Style style) {
    return Rows.randomWeights(summary) ? dim(RANDOM_WEIGHTS, style) : "";
  }

  private static String dim(String text, Style style) {
    return Wrap.lines(style.adapt(text), style.width()).stream()
        .map(line -> style.paint(line, Tone.DIM) + '\n')
        .collect(Collectors.joining());
  }

  private static Cell[] cells(
      String metric, Rows.Row row, int numbers, int ratios, boolean shares, boolean compares) {
    List<Cell> cells = new ArrayList<>();
    cells.add(new Cell(metric, Tone.BOLD));
    cells.add(Cell.of(row.label()));
    String value = DisplayWidth.padLeft(row.value().number(), numbers);
    cells.add(Cell.of(joined(value, row.value().spread()) + unit(row)));
    if (shares) {
      cells.add(Cell.of(row.share().replace(' ', Table.NO_BREAK)));
    }
    if (compares) {
      String number = row.baseline() ? "1×" : ratioNumber(row);
      String spread = row.ratio().spread().replace(' ', Table.NO_BREAK);
      String ratio = (DisplayWidth.padLeft(number, ratios) + " " + spread).stripTrailing();
      cells.add(new Cell(ratio, row.baseline() ? Tone.DIM : Tone.PLAIN));
      cells.add(new Cell(row.verdict(), Rows.tone(row.verdict())));
    }
    return cells.toArray(Cell[]::new);
  }

  /** ± stays with its numbers, while an interval in brackets may stand below the estimate. */
  private static String joined(String number, String spread) {
    String together = spread.replace(' ', Table.NO_BREAK);
    String between = spread.startsWith("±") ? String.valueOf(Table.NO_BREAK) : " ";
    return spread.isEmpty() ? number : number + between + together;
  }

  private static String unit(Rows.Row row) {
    return row.unit().isEmpty() ? "" : " " + row.unit();
  }

  private static String ratioNumber(Rows.Row row) {
    return row.ratio().isMeasured() ? row.ratio().number() + "×" : row.ratio().number();
  }

  private static int widest(List<Rows.Group> groups, boolean ratio) {
    return groups.stream()
        .flatMap(group -> group.rows().stream())
        .mapToInt(row -> DisplayWidth.of(ratio ? ratioNumber(row) : row.value().number()))
        .max()
        .orElse(0);
  }

  private static String ratioHeader(Summary summary) {
    List<String> baselines =
        summary.comparisons().stream().map(Comparison::baseline).distinct().toList();
    boolean named = baselines.size() == 1 && DisplayWidth.of(baselines.getFirst()) <= 18;
    return "vs " + (named ? baselines.getFirst() : "baseline");
  }
}
