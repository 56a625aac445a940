package io.steelyard.reports;

import java.util.List;

/**
 * Values over a number, such as a length, as lines.
 *
 * @param name of the figure's files
 * @param title says what is drawn
 * @param subtitle what all values share
 * @param axis what the lines run over, all above 0
 * @param lines at least one
 */
public record LineChart(String name, String title, String subtitle, String axis, List<Line> lines)
    implements Chart {
  public LineChart {
    lines = List.copyOf(lines);
    if (lines.isEmpty()) {
      throw new IllegalArgumentException("a chart without a line can't be drawn");
    }
  }

  /**
   * A line.
   *
   * @param at ascending, at least one
   * @param values one for each
   */
  public record Line(String name, double[] at, double[] values) {
    public Line {
      if (at.length == 0 || at.length != values.length) {
        throw new IllegalArgumentException(values.length + " values at " + at.length + " places");
      }
      at = at.clone();
      values = values.clone();
    }
  }
}
