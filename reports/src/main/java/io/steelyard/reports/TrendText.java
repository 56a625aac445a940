package io.steelyard.reports;

import io.steelyard.reports.terminal.DisplayWidth;
import io.steelyard.reports.terminal.Format;
import io.steelyard.reports.terminal.Style;
import io.steelyard.reports.terminal.Tone;
import java.util.Arrays;

/** A {@link TrendChart} in characters: runs from left to right, changes numbered beneath. */
public final class TrendText {
  private static final int HEIGHT = 11;

  /** Columns between two runs, where there are few. */
  private static final int WIDEST_STEP = 3;

  private final TrendChart chart;
  private final Style style;
  private final Figure.Scale scale;
  private final double low;
  private final double high;
  private final int decimals;
  private final int labels;
  private final int columns;
  private final double step;

  private TrendText(TrendChart chart, Style style) {
    this.chart = chart;
    this.style = style;
    double[] range = chart.range();
    scale = Figure.Scale.of(chart.unit(), range[0], range[1]);
    double room = range[1] > range[0] ? 0 : Math.max(0.01 * Math.abs(range[0]), 1e-9);
    low = (range[0] - room) * scale.factor();
    high = (range[1] + room) * scale.factor();
    // A row more or less is to be a digit more or less.
    decimals = Math.clamp(-Format.magnitude((high - low) / (HEIGHT - 1)), 0, 9);
    labels = Math.max(width(label(low)), width(label(high)));
    int runs = chart.points().size();
    int free = style.width() - labels - 2;
    step = runs == 1 ? 0 : Math.min(WIDEST_STEP, (free - 1.0) / (runs - 1));
    columns = (int) Math.round((runs - 1) * step) + 1;
  }

  /** The chart, every line ended by a newline, no line wider than the style. */
  public static String render(TrendChart chart, Style style) {
    return new TrendText(chart, style).render();
  }

  private String render() {
    String[][] cells = new String[HEIGHT][columns];
    for (String[] row : cells) {
      Arrays.fill(row, " ");
    }
    for (TrendChart.Level level : chart.levels()) {
      draw(level, cells);
    }
    for (int i = 0; i < chart.points().size(); i++) {
      cells[row(chart.points().get(i).value())][column(i)] = style.unicode() ? "•" : "o";
    }
    StringBuilder out = new StringBuilder();
    out.append(style.paint(style.adapt(scale.unit()), Tone.DIM)).append('\n');
    for (int row = 0; row < HEIGHT; row++) {
      double value = high - row * (high - low) / (HEIGHT - 1);
      String label = row % ((HEIGHT - 1) / 2) == 0 ? label(value) : "";
      line(out, label, style.unicode() ? "│" : "|", String.join("", cells[row]).stripTrailing());
    }
    line(out, "", style.unicode() ? "└" : "+", (style.unicode() ? "─" : "-").repeat(columns));
    if (!chart.changes().isEmpty()) {
      out.append(marks());
    }
    out.append(dates());
    return out.toString();
  }

  private void line(StringBuilder out, String label, String edge, String content) {
    out.repeat(" ", labels - width(label))
        .append(style.paint(label, Tone.DIM))
        .append(' ')
        .append(style.paint(edge, Tone.DIM))
        .append(content)
        .append('\n');
  }

  private void draw(TrendChart.Level level, String[][] cells) {
    int from = column(level.from());
    int to = column(level.to());
    for (int column = from; column <= to; column++) {
      double share = to == from ? 0 : (double) (column - from) / (to - from);
      double value = level.start() + share * (level.end() - level.start());
      cells[row(value)][column] = style.paint(style.unicode() ? "─" : "-", Tone.DIM);
    }
  }

  /** Each change's number below its first run, or as near to it as those before leave room. */
  private String marks() {
    StringBuilder marks = new StringBuilder();
    int used = 0;
    marks.repeat(" ", labels + 2);
    for (int i = 0; i < chart.changes().size(); i++) {
      TrendChart.Change change = chart.changes().get(i);
      String text = mark(i + 1, change.effect());
      int at = Math.max(used, Math.min(column(change.to()), columns - width(text)));
      if (at + width(text) > style.width() - labels - 2) {
        break;
      }
      marks.repeat(" ", at - used).append(style.paint(text, tone(change.effect())));
      used = at + width(text);
    }
    return marks.toString().stripTrailing() + "\n";
  }

  /** How a change is named in a chart and in the table below it. */
  public static String mark(int number, TrendChart.Effect effect) {
    return switch (effect) {
      case BETTER -> number + "+";
      case WORSE -> number + "!";
      case UNKNOWN -> String.valueOf(number);
    };
  }

  /** The tone of a change. */
  public static Tone tone(TrendChart.Effect effect) {
    return switch (effect) {
      case BETTER -> Tone.GOOD;
      case WORSE -> Tone.BAD;
      case UNKNOWN -> Tone.INFO;
    };
  }

  private String dates() {
    String first = style.adapt(chart.points().getFirst().when());
    String last = style.adapt(chart.points().getLast().when());
    int gap = columns - width(first) - width(last);
    String text = gap > 0 ? first + " ".repeat(gap) + last : first + " … " + last;
    return " ".repeat(labels + 2) + style.paint(style.adapt(text), Tone.DIM) + "\n";
  }

  private int column(int index) {
    return (int) Math.round(index * step);
  }

  private int row(double value) {
    double share = (high - value * scale.factor()) / (high - low);
    return Math.clamp(Math.round(share * (HEIGHT - 1)), 0, HEIGHT - 1);
  }

  private String label(double value) {
    return Format.decimals(value, decimals);
  }

  private static int width(String text) {
    return DisplayWidth.of(text);
  }
}
