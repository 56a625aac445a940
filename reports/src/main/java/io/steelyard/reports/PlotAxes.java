package io.steelyard.reports;

import io.steelyard.reports.terminal.Format;
import java.awt.FontMetrics;
import java.awt.Graphics2D;
import java.awt.geom.Rectangle2D;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jfree.chart.axis.AxisState;
import org.jfree.chart.axis.LogAxis;
import org.jfree.chart.axis.NumberAxis;
import org.jfree.chart.axis.NumberTick;
import org.jfree.chart.axis.ValueAxis;
import org.jfree.chart.ui.RectangleEdge;
import org.jfree.chart.ui.RectangleInsets;
import org.jfree.chart.ui.TextAnchor;

/** Axes whose ticks are chosen here: JFreeChart's own logarithmic ticks are powers of the base. */
final class PlotAxes {

  /** A place on an axis and the text that stands there. */
  record Tick(double at, String text) {}

  /** Room between the texts of two ticks. */
  private static final int TICK_SPACE = 16;

  /** Above this ratio of largest to smallest, equal changes are shown equally large. */
  private static final double LOGARITHMIC_FROM = 3;

  private PlotAxes() {}

  /** A linear axis with the given ticks. */
  static NumberAxis linear(List<Tick> ticks) {
    return linearFrom(List.of(ticks));
  }

  /** A linear axis with the first of these sets of ticks whose texts don't collide. */
  static NumberAxis linearFrom(List<List<Tick>> choices) {
    NumberAxis axis = new Linear(choices);
    PlotStyle.plain(axis);
    return axis;
  }

  /** A logarithmic axis with the first of these sets of ticks whose texts don't collide. */
  static LogAxis logarithmicFrom(List<List<Tick>> choices) {
    LogAxis axis = new Logarithmic(choices);
    PlotStyle.plain(axis);
    return axis;
  }

  /**
   * An axis for these values with room around them, logarithmic where the largest is several times
   * the smallest.
   */
  static ValueAxis values(double smallest, double largest) {
    return values(smallest, largest, List.of());
  }

  /**
   * The same with ticks of one's own.
   *
   * @param wanted sets of ticks that are better than round numbers where their texts don't collide
   */
  static ValueAxis values(double smallest, double largest, List<List<Tick>> wanted) {
    boolean logarithmic = smallest > 0 && largest / smallest >= LOGARITHMIC_FROM;
    double low;
    double high;
    if (logarithmic) {
      double room = Math.pow(largest / smallest, 0.08);
      low = smallest / room;
      high = largest * room;
    } else {
      double room = Math.max(0.1 * (largest - smallest), 0.01 * Math.abs(largest));
      room = room > 0 ? room : 1;
      low = smallest - room;
      high = largest + room;
    }
    List<List<Tick>> choices = new ArrayList<>(wanted);
    (logarithmic ? roundLogarithmic(low, high) : roundLinear(low, high))
        .forEach(
            set -> choices.add(set.stream().map(v -> new Tick(v, Format.compact(v))).toList()));
    ValueAxis axis = logarithmic ? logarithmicFrom(choices) : linearFrom(choices);
    axis.setRange(low, high);
    return axis;
  }

  /** Sets of round numbers in the range for a logarithmic axis, the finest first. */
  static List<List<Double>> roundLogarithmic(double low, double high) {
    double[][] mantissas = {
      {1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9},
      {1, 1.5, 2, 3, 4, 5, 7},
      {1, 2, 5},
      {1, 3},
      {1}
    };
    List<List<Double>> sets = new ArrayList<>();
    for (double[] series : mantissas) {
      sets.add(roundLogarithmic(low, high, series, 1));
    }
    for (int decades = 2; decades <= 8; decades *= 2) {
      sets.add(roundLogarithmic(low, high, new double[] {1}, decades));
    }
    return sets;
  }

  private static List<Double> roundLogarithmic(
      double low, double high, double[] mantissas, int decades) {
    List<Double> values = new ArrayList<>();
    int first = Math.floorDiv((int) Math.floor(Math.log10(low)), decades) * decades;
    for (int e = first; Math.pow(10, e) <= high; e += decades) {
      for (double mantissa : mantissas) {
        double value = mantissa * Math.pow(10, e);
        if (value >= low && value <= high) {
          values.add(value);
        }
      }
    }
    return values;
  }

  /** Multiples of round steps in the range, the finest first. */
  static List<List<Double>> roundLinear(double low, double high) {
    List<List<Double>> sets = new ArrayList<>();
    double power = Math.pow(10, Math.floor(Math.log10(high - low)) - 2);
    for (double step : new double[] {5, 10, 20, 25, 50, 100, 200, 250, 500}) {
      List<Double> values = new ArrayList<>();
      double size = step * power;
      for (long k = (long) Math.ceil(low / size - 1e-9); k * size <= high + 1e-9 * size; k++) {
        values.add(k * size);
      }
      sets.add(values);
    }
    return sets;
  }

  private static List<NumberTick> ticks(
      ValueAxis axis,
      List<List<Tick>> choices,
      Graphics2D graphics,
      Rectangle2D area,
      RectangleEdge edge) {
    List<Tick> ticks =
        choices.stream()
            .filter(choice -> fits(axis, choice, graphics, area, edge))
            .findFirst()
            .orElse(choices.getLast());
    TextAnchor anchor = anchor(edge);
    return ticks.stream()
        .map(tick -> new NumberTick(tick.at(), tick.text(), anchor, anchor, 0))
        .toList();
  }

  private static boolean fits(
      ValueAxis axis, List<Tick> ticks, Graphics2D graphics, Rectangle2D area, RectangleEdge edge) {
    FontMetrics metrics = graphics.getFontMetrics(axis.getTickLabelFont());
    boolean horizontal = RectangleEdge.isTopOrBottom(edge);
    for (int i = 1; i < ticks.size(); i++) {
      double distance =
          Math.abs(
              axis.valueToJava2D(ticks.get(i).at(), area, edge)
                  - axis.valueToJava2D(ticks.get(i - 1).at(), area, edge));
      double needed =
          horizontal
              ? (metrics.stringWidth(ticks.get(i).text())
                          + metrics.stringWidth(ticks.get(i - 1).text()))
                      / 2.0
                  + TICK_SPACE
              : metrics.getHeight() + TICK_SPACE;
      if (distance < needed) {
        return false;
      }
    }
    return true;
  }

  private static TextAnchor anchor(RectangleEdge edge) {
    if (RectangleEdge.isTopOrBottom(edge)) {
      return TextAnchor.TOP_CENTER;
    }
    return edge.equals(RectangleEdge.LEFT) ? TextAnchor.CENTER_RIGHT : TextAnchor.CENTER_LEFT;
  }

  private static final class Linear extends NumberAxis {
    private final transient List<List<Tick>> choices;

    Linear(List<List<Tick>> choices) {
      this.choices = choices;
    }

    @Override
    public List<NumberTick> refreshTicks(
        Graphics2D graphics, AxisState state, Rectangle2D area, RectangleEdge edge) {
      return ticks(this, choices, graphics, area, edge);
    }
  }

  private static final class Logarithmic extends LogAxis {
    private final transient List<List<Tick>> choices;

    Logarithmic(List<List<Tick>> choices) {
      this.choices = choices;
    }

    @Override
    public List<NumberTick> refreshTicks(
        Graphics2D graphics, AxisState state, Rectangle2D area, RectangleEdge edge) {
      return ticks(this, choices, graphics, area, edge);
    }
  }

  /** An axis of rows below one another, each by its name. */
  static NumberAxis rows(List<String> names) {
    NumberAxis axis =
        linear(IntStream.range(0, names.size()).mapToObj(i -> new Tick(i, names.get(i))).toList());
    axis.setRange(-0.7, names.size() - 0.3);
    axis.setInverted(true);
    axis.setTickLabelFont(PlotStyle.TEXT);
    axis.setTickLabelPaint(PlotStyle.INK);
    axis.setTickLabelInsets(new RectangleInsets(2, 9, 2, 9));
    return axis;
  }
}
