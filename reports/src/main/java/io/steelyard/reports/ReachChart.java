package io.steelyard.reports;

import java.util.List;

/**
 * How far each of several things got, along one axis.
 *
 * @param name of the figure's files
 * @param title says what is drawn
 * @param subtitle what all of them share
 * @param axis what was reached
 * @param rows at least one
 */
public record ReachChart(String name, String title, String subtitle, String axis, List<Row> rows)
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
