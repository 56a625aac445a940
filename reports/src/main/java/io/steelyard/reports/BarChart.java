package io.steelyard.reports;

import java.util.List;

/**
 * What each of several things consists of, as bars of parts.
 *
 * @param name of the figure's files
 * @param title says what is drawn
 * @param subtitle what all values share
 * @param axis what the bars measure, from 0
 * @param parts names of what a bar consists of
 * @param bars at least one
 */
public record BarChart(
    String name, String title, String subtitle, String axis, List<String> parts, List<Bar> bars)
    implements Chart {
  public BarChart {
    parts = List.copyOf(parts);
    bars = List.copyOf(bars);
    if (bars.isEmpty()) {
      throw new IllegalArgumentException("a chart without a bar can't be drawn");
    }
    for (Bar bar : bars) {
      if (bar.values().length != parts.size()) {
        throw new IllegalArgumentException(
            "%d values of %d parts of %s".formatted(bar.values().length, parts.size(), bar.name()));
      }
    }
  }

  /**
   * A bar.
   *
   * @param values one for each part, none below 0
   */
  public record Bar(String name, double[] values) {
    public Bar {
      values = values.clone();
    }

    /** All parts together. */
    double length() {
      double sum = 0;
      for (double value : values) {
        sum += value;
      }
      return sum;
    }
  }
}
