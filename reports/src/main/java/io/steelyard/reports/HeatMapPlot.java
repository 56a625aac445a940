package io.steelyard.reports;

import java.awt.Color;
import java.awt.FontMetrics;
import java.awt.Graphics2D;
import java.awt.geom.Rectangle2D;

/** The cells of a heat map, each with its share in per cent. */
final class HeatMapPlot implements Plots.Drawing {
  private static final int LEFT = 62;
  private static final int TOP = 66;
  private static final int RIGHT = 22;
  private static final int BOTTOM = 46;
  private static final int CELL_WIDTH = 27;
  private static final int CELL_HEIGHT = 21;
  private static final int LEAST_WIDTH = 640;
  private static final int BASELINE = 15;
  private static final int LONGEST_TITLE = 80;
  private static final int LONGEST_SUBTITLE = 110;

  /** From here on a cell is so dark that its text must be light. */
  private static final double DARK = 0.55;

  private final HeatMap map;

  HeatMapPlot(HeatMap map) {
    this.map = map;
  }

  private int columns() {
    return map.shares()[0].length;
  }

  @Override
  public int width() {
    return Math.max(LEAST_WIDTH, LEFT + columns() * CELL_WIDTH + RIGHT);
  }

  @Override
  public int height() {
    return TOP + map.shares().length * CELL_HEIGHT + BOTTOM;
  }

  @Override
  public void draw(Graphics2D graphics) {
    graphics.setFont(PlotStyle.TITLE);
    graphics.setColor(PlotStyle.INK);
    graphics.drawString(PlotStyle.name(map.title(), LONGEST_TITLE), RIGHT, 30);
    graphics.setFont(PlotStyle.SMALL);
    graphics.setColor(PlotStyle.DIM);
    graphics.drawString(PlotStyle.name(map.subtitle(), LONGEST_SUBTITLE), RIGHT, 50);
    for (int row = 0; row < map.shares().length; row++) {
      graphics.setColor(PlotStyle.DIM);
      int y = TOP + row * CELL_HEIGHT;
      String label = row == 0 ? map.down() + " " + row : Integer.toString(row);
      graphics.drawString(
          label, LEFT - 6 - graphics.getFontMetrics().stringWidth(label), y + BASELINE);
      for (int column = 0; column < columns(); column++) {
        cell(graphics, LEFT + column * CELL_WIDTH, y, map.shares()[row][column]);
      }
    }
    graphics.setColor(PlotStyle.DIM);
    int y = TOP + map.shares().length * CELL_HEIGHT + BASELINE;
    for (int column = 0; column < columns(); column++) {
      centred(graphics, Integer.toString(column), LEFT + column * CELL_WIDTH, y);
    }
    graphics.drawString(map.across(), LEFT, y + BASELINE);
  }

  private static void cell(Graphics2D graphics, int x, int y, double share) {
    double shade = Math.clamp(share, 0, 1);
    graphics.setColor(PlotStyle.lighter(PlotStyle.label(0), shade));
    graphics.fill(new Rectangle2D.Double(x, y, CELL_WIDTH - 1, CELL_HEIGHT - 1));
    graphics.setColor(shade > DARK ? Color.WHITE : PlotStyle.INK);
    centred(graphics, Long.toString(Math.round(100 * share)), x, y + BASELINE);
  }

  private static void centred(Graphics2D graphics, String text, int x, int y) {
    FontMetrics metrics = graphics.getFontMetrics();
    graphics.drawString(text, x + (CELL_WIDTH - metrics.stringWidth(text)) / 2, y);
  }
}
