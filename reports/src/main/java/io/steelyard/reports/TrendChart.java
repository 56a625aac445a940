package io.steelyard.reports;

import java.util.List;
import java.util.stream.DoubleStream;

/**
 * One metric over the runs of a history, with its changes: what {@link TrendText} and {@link Plots}
 * draw.
 *
 * @param title such as {@code tg64 of steelyard}
 * @param subtitle what all runs share
 * @param unit such as {@code tok/s}
 * @param points one a run, the oldest first, at least one
 * @param levels lines through the points, between changes
 * @param changes where the levels change, in order
 */
public record TrendChart(
    String title,
    String subtitle,
    String unit,
    List<Point> points,
    List<Level> levels,
    List<Change> changes) {

  public TrendChart {
    points = List.copyOf(points);
    levels = List.copyOf(levels);
    changes = List.copyOf(changes);
    if (points.isEmpty()) {
      throw new IllegalArgumentException("a trend without a run can't be drawn");
    }
  }

  /**
   * A run.
   *
   * @param when its date, in few characters
   * @param low lower bound of the value's interval; null where there is none
   * @param high upper bound; null likewise
   */
  public record Point(String when, double value, Double low, Double high) {}

  /**
   * A line through the points.
   *
   * @param from index of its first point
   * @param to index of its last
   * @param start its value at the first
   * @param end its value at the last
   */
  public record Level(int from, int to, double start, double end) {}

  /** Where a change leads. */
  public enum Effect {
    BETTER,
    WORSE,
    UNKNOWN
  }

  /**
   * A change, numbered from 1 by its place in the list.
   *
   * @param from index of the last point before it, or of the first of a drift
   * @param to index of the first point after it, or of the last of a drift
   */
  public record Change(int from, int to, Effect effect) {}

  /** The smallest value, and the largest, of points and levels. */
  double[] range() {
    double[] values =
        DoubleStream.concat(
                points.stream().mapToDouble(Point::value),
                levels.stream().flatMapToDouble(level -> DoubleStream.of(level.start, level.end)))
            .toArray();
    return new double[] {
      DoubleStream.of(values).min().orElseThrow(), DoubleStream.of(values).max().orElseThrow()
    };
  }
}
