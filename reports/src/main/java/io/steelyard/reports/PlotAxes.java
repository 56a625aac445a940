package io.steelyard.reports;

import java.awt.Graphics2D;
import java.awt.geom.Rectangle2D;
import java.util.ArrayList;
import java.util.List;
import org.jfree.chart.axis.AxisState;
import org.jfree.chart.axis.LogAxis;
import org.jfree.chart.axis.NumberAxis;
import org.jfree.chart.axis.NumberTick;
import org.jfree.chart.ui.RectangleEdge;
import org.jfree.chart.ui.TextAnchor;

/** Axes whose ticks are chosen here: JFreeChart's own logarithmic ticks are powers of the base. */
final class PlotAxes {

  /** A place on an axis and the text that stands there. */
  record Tick(double at, String text) {}

  private PlotAxes() {}

  /** A linear axis with the given ticks. */
  static NumberAxis linear(List<Tick> ticks) {
    NumberAxis axis = new Linear(ticks);
    PlotStyle.plain(axis);
    return axis;
  }

  /** A logarithmic axis with the given ticks. */
  static LogAxis logarithmic(List<Tick> ticks) {
    LogAxis axis = new Logarithmic(ticks);
    PlotStyle.plain(axis);
    return axis;
  }

  /** The values of the finest series of round numbers that puts at most so many into the range. */
  static List<Double> roundLogarithmic(double low, double high, int most) {
    double[][] mantissas = {
      {1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 9},
      {1, 1.5, 2, 3, 4, 5, 7},
      {1, 2, 5},
      {1, 3},
      {1}
    };
    List<Double> values = List.of();
    for (double[] series : mantissas) {
      values = new ArrayList<>();
      for (int e = (int) Math.floor(Math.log10(low)); Math.pow(10, e) <= high; e++) {
        for (double mantissa : series) {
          double value = mantissa * Math.pow(10, e);
          if (value >= low && value <= high) {
            values.add(value);
          }
        }
      }
      if (values.size() <= most) {
        break;
      }
    }
    return values;
  }

  /** Multiples of a round step, at most so many in the range. */
  static List<Double> roundLinear(double low, double high, int most) {
    double rough = (high - low) / most;
    double power = Math.pow(10, Math.floor(Math.log10(rough)));
    double step = 10 * power;
    for (double mantissa : new double[] {1, 2, 2.5, 5}) {
      if (mantissa * power >= rough) {
        step = mantissa * power;
        break;
      }
    }
    List<Double> values = new ArrayList<>();
    for (long k = (long) Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
      values.add(k * step);
    }
    return values;
  }

  private static List<NumberTick> ticks(List<Tick> ticks, RectangleEdge edge) {
    TextAnchor anchor = anchor(edge);
    return ticks.stream()
        .map(tick -> new NumberTick(tick.at(), tick.text(), anchor, anchor, 0))
        .toList();
  }

  private static TextAnchor anchor(RectangleEdge edge) {
    if (RectangleEdge.isTopOrBottom(edge)) {
      return TextAnchor.TOP_CENTER;
    }
    return edge.equals(RectangleEdge.LEFT) ? TextAnchor.CENTER_RIGHT : TextAnchor.CENTER_LEFT;
  }

  private static final class Linear extends NumberAxis {
    private final transient List<Tick> ticks;

    Linear(List<Tick> ticks) {
      this.ticks = ticks;
    }

    @Override
    public List<NumberTick> refreshTicks(
        Graphics2D graphics, AxisState state, Rectangle2D area, RectangleEdge edge) {
      return ticks(ticks, edge);
    }
  }

  private static final class Logarithmic extends LogAxis {
    private final transient List<Tick> ticks;

    Logarithmic(List<Tick> ticks) {
      this.ticks = ticks;
    }

    @Override
    public List<NumberTick> refreshTicks(
        Graphics2D graphics, AxisState state, Rectangle2D area, RectangleEdge edge) {
      return ticks(ticks, edge);
    }
  }
}
