package io.steelyard.reports.terminal;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * A table for the terminal that never grows wider than its {@link Style}: columns that don't fit
 * are narrowed, the widest first, and their text wraps. Columns stay aligned whatever the scripts
 * in them.
 */
public final class Table {

  /** Where text stands in its column. */
  public enum Align {
    LEFT,
    RIGHT
  }

  /** One cell: its text, which may have several lines, and how it is meant. */
  public record Cell(String text, Tone tone) {
    /** A cell without a tone. */
    public static Cell of(String text) {
      return new Cell(text, Tone.PLAIN);
    }
  }

  private sealed interface Line {}

  private record Row(List<Cell> cells) implements Line {}

  private record Note(int column, Cell cell) implements Line {}

  private record Gap() implements Line {}

  /** Columns' widths and the space between two of them. */
  private record Layout(int[] widths, int gutter) {
    int before(int column) {
      return Arrays.stream(widths, 0, column).sum() + gutter * column;
    }

    int total() {
      return before(widths.length) - gutter;
    }
  }

  private record Column(Cell header, Align align) {}

  /** Keeps what it joins in one line; shown as a space. */
  public static final char NO_BREAK = '\u00a0';

  private static final int GUTTER = 2;
  private static final int NARROW_GUTTER = 1;

  private final Style style;
  private final List<Column> columns = new ArrayList<>();
  private final List<Line> lines = new ArrayList<>();

  public Table(Style style) {
    this.style = style;
  }

  /** Adds a column at the right. All columns are added before the first row. */
  public Table column(String header, Align align) {
    columns.add(new Column(adapt(new Cell(header, Tone.BOLD)), align));
    return this;
  }

  /** Adds a row of as many cells as there are columns. */
  public Table row(Cell... cells) {
    if (cells.length != columns.size()) {
      throw new IllegalArgumentException(
          cells.length + " cells for " + columns.size() + " columns");
    }
    lines.add(new Row(Arrays.stream(cells).map(this::adapt).toList()));
    return this;
  }

  /** Adds a row of plain cells. */
  public Table row(String... cells) {
    return row(Arrays.stream(cells).map(Cell::of).toArray(Cell[]::new));
  }

  /** Adds text below the last row, from the column's left edge to the right edge of the style. */
  public Table note(int column, String text, Tone tone) {
    lines.add(new Note(column, adapt(new Cell(text, tone))));
    return this;
  }

  /** Adds an empty line; a gap at the end is not shown. */
  public Table gap() {
    lines.add(new Gap());
    return this;
  }

  /** Columns that the table would fill if it had all the room it wants; notes don't count. */
  public int naturalWidth() {
    return Arrays.stream(naturalWidths()).sum() + GUTTER * (columns.size() - 1);
  }

  /** The table, every line ended by a newline, no line wider than the style. */
  public String render() {
    Layout layout = fit();
    StringBuilder out = new StringBuilder();
    append(out, columns.stream().map(Column::header).toList(), layout);
    String rule = (style.unicode() ? "─" : "-").repeat(layout.total());
    out.append(style.paint(rule, Tone.DIM)).append('\n');
    int last = lines.size();
    while (last > 0 && lines.get(last - 1) instanceof Gap) {
      last--;
    }
    for (Line line : lines.subList(0, last)) {
      switch (line) {
        case Row row -> append(out, row.cells(), layout);
        case Note note -> append(out, note, layout);
        case Gap() -> out.append('\n');
      }
    }
    return out.toString();
  }

  private Cell adapt(Cell cell) {
    String text = String.join("\n", cell.text().lines().map(line -> style.adapt(line)).toList());
    return new Cell(text, cell.tone());
  }

  private int[] naturalWidths() {
    int[] widths = new int[columns.size()];
    for (int i = 0; i < widths.length; i++) {
      int column = i;
      widths[i] =
          cellsOf(column)
              .flatMap(cell -> cell.text().lines())
              .mapToInt(DisplayWidth::of)
              .max()
              .orElse(0);
    }
    return widths;
  }

  private Stream<Cell> cellsOf(int column) {
    return Stream.concat(
        Stream.of(columns.get(column).header()),
        lines.stream().filter(Row.class::isInstance).map(line -> ((Row) line).cells().get(column)));
  }

  /** Narrows the widest column step by step; words are broken only where nothing else helps. */
  private Layout fit() {
    int[] widths = naturalWidths();
    int[] words = new int[widths.length];
    for (int i = 0; i < words.length; i++) {
      words[i] = cellsOf(i).mapToInt(cell -> Wrap.longestWord(cell.text())).max().orElse(0);
    }
    int gaps = widths.length - 1;
    // Narrow only where that keeps every cell in as few lines as it has, or every word whole.
    int natural = Arrays.stream(widths).sum();
    boolean narrowFits =
        natural + GUTTER * gaps > style.width() && natural + NARROW_GUTTER * gaps <= style.width();
    boolean wordsFit = Arrays.stream(words).sum() + GUTTER * gaps <= style.width();
    int gutter = wordsFit && !narrowFits ? GUTTER : NARROW_GUTTER;
    int room = style.width() - gutter * gaps;
    narrow(widths, words, room);
    int[] least = new int[widths.length];
    // Two columns hold any character.
    Arrays.fill(least, 2);
    narrow(widths, least, room);
    return new Layout(widths, gutter);
  }

  private static void narrow(int[] widths, int[] least, int room) {
    int excess = Arrays.stream(widths).sum() - room;
    for (; excess > 0; excess--) {
      int widest = -1;
      for (int i = 0; i < widths.length; i++) {
        if (widths[i] > least[i] && (widest < 0 || widths[i] > widths[widest])) {
          widest = i;
        }
      }
      if (widest < 0) {
        return;
      }
      widths[widest]--;
    }
  }

  private void append(StringBuilder out, List<Cell> cells, Layout layout) {
    int[] widths = layout.widths();
    List<List<String>> wrapped = new ArrayList<>();
    int height = 1;
    for (int i = 0; i < widths.length; i++) {
      // A column of one has nothing wider than one in it.
      List<String> text = Wrap.lines(cells.get(i).text(), Math.max(2, widths[i]));
      wrapped.add(text);
      height = Math.max(height, text.size());
    }
    for (int y = 0; y < height; y++) {
      StringBuilder line = new StringBuilder();
      int pending = 0;
      for (int i = 0; i < widths.length; i++) {
        String text = y < wrapped.get(i).size() ? wrapped.get(i).get(y) : "";
        int free = widths[i] - DisplayWidth.of(text);
        int before = columns.get(i).align() == Align.RIGHT ? free : 0;
        // Spaces are written only once something follows: no line ends in them.
        pending += before;
        if (!text.isEmpty()) {
          line.repeat(" ", pending)
              .append(style.paint(text.replace(NO_BREAK, ' '), cells.get(i).tone()));
          pending = 0;
        }
        pending += free - before + layout.gutter();
      }
      out.append(line).append('\n');
    }
  }

  private void append(StringBuilder out, Note note, Layout layout) {
    // A note squeezed to the right edge would be a column of single words.
    int indent = Math.min(layout.before(note.column()), style.width() / 2);
    String mark = style.adapt("↳ ");
    int hang = DisplayWidth.of(mark);
    List<String> text = Wrap.lines(note.cell().text(), style.width() - indent - hang);
    for (int i = 0; i < text.size(); i++) {
      out.repeat(" ", indent)
          .append(style.paint((i == 0 ? mark : " ".repeat(hang)) + text.get(i), note.cell().tone()))
          .append('\n');
    }
  }
}
