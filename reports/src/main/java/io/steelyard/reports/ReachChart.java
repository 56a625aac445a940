package io.steelyard.reports;

import java.util.List;
import java.util.function.DoubleFunction;

/**
 * How far each of several things got, along one axis.
 *
 * @param name of the figure's files
 * @param title says what is drawn
 * @param subtitle what all of them share
 * @param axis what was reached
 * @param tick how a value of the axis is written
 * @param rows at least one
 */
public record ReachChart(
    String name,
    String title,
    String subtitle,
    String axis,
    DoubleFunction<String> tick,
    List<Row> rows)
    implements Chart {
  public ReachChart {
    rows = List.copyOf(rows);
    if (rows.isEmpty()) {
      throw new IllegalArgumentException("a chart without a row can't be drawn");
    }
  }

  /**
   * One of them.
   *
   * @param reached the furthest that was measured; 0 where nothing was
   * @param predicted what comes next and was only predicted, drawn hollow; 0 where nothing was
   * @param why what stopped it, in a few words
   */
  public record Row(String name, double reached, double predicted, String why) {}
}
