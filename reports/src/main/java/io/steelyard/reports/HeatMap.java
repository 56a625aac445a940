package io.steelyard.reports;

import java.util.Arrays;

/**
 * Shares as a field of cells, darker where they are larger.
 *
 * @param name of the figure's files
 * @param title says what is drawn
 * @param subtitle what all values share
 * @param across what the columns are, such as {@code layer}
 * @param down what the rows are, such as {@code head}
 * @param shares from 0 to 1, [row][column], all rows of one length
 */
public record HeatMap(
    String name, String title, String subtitle, String across, String down, double[][] shares)
    implements Chart {
  public HeatMap {
    if (shares.length == 0 || shares[0].length == 0) {
      throw new IllegalArgumentException("a heat map without a cell can't be drawn");
    }
    shares = Arrays.stream(shares).map(double[]::clone).toArray(double[][]::new);
    for (double[] row : shares) {
      if (row.length != shares[0].length) {
        throw new IllegalArgumentException(
            "a row of %d cells among rows of %d".formatted(row.length, shares[0].length));
      }
    }
  }
}
