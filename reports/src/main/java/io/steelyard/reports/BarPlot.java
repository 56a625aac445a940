package io.steelyard.reports;

import io.steelyard.reports.PlotAxes.Tick;
import io.steelyard.reports.terminal.DisplayWidth;
import io.steelyard.reports.terminal.Format;
import java.awt.Graphics2D;
import java.awt.geom.Rectangle2D;
import java.util.List;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.axis.NumberAxis;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.xy.StandardXYBarPainter;
import org.jfree.chart.renderer.xy.XYBarRenderer;
import org.jfree.data.xy.XYIntervalSeries;
import org.jfree.data.xy.XYIntervalSeriesCollection;

/** Bars that lie below one another, each with its parts end to end. */
final class BarPlot implements Plots.Drawing {
  private static final int WIDTH = 920;
  private static final int ROW = 26;
  private static final int AROUND_ROWS = 170;
  private static final int LONGEST_NAME = 40;
  private static final int FREE_NAME = 16;
  private static final int WIDTH_OF_CHARACTER = 7;
  private static final double HALF_BAR = 0.32;
  private static final double ROOM = 1.04;

  private final BarChart chart;

  BarPlot(BarChart chart) {
    this.chart = chart;
  }

  @Override
  public int width() {
    int longest =
        chart.bars().stream()
            .mapToInt(bar -> DisplayWidth.of(PlotStyle.name(bar.name(), LONGEST_NAME)))
            .max()
            .orElseThrow();
    return WIDTH + WIDTH_OF_CHARACTER * Math.max(0, longest - FREE_NAME);
  }

  @Override
  public int height() {
    return chart.bars().size() * ROW + AROUND_ROWS;
  }

  @Override
  public void draw(Graphics2D graphics) {
    XYPlot plot = new XYPlot();
    PlotStyle.plain(plot);
    plot.setDomainAxis(lengths());
    plot.setDomainGridlinesVisible(true);
    plot.setDomainGridlinePaint(PlotStyle.RULE);
    plot.setDomainGridlineStroke(PlotStyle.THIN);
    plot.setRangeAxis(PlotAxes.rows(names()));
    addBars(plot);
    JFreeChart drawn = PlotStyle.chart(plot, chart.title(), chart.subtitle());
    if (chart.parts().size() > 1) {
      drawn.addSubtitle(LinePlot.legend(plot));
    }
    drawn.draw(graphics, new Rectangle2D.Double(0, 0, width(), height()));
  }

  private NumberAxis lengths() {
    double longest = chart.bars().stream().mapToDouble(BarChart.Bar::length).max().orElseThrow();
    double end = longest > 0 ? longest * ROOM : 1;
    NumberAxis axis =
        PlotAxes.linearFrom(
            PlotAxes.roundLinear(0, end).stream()
                .map(set -> set.stream().map(v -> new Tick(v, Format.compact(v))).toList())
                .toList());
    axis.setRange(0, end);
    axis.setLabel(chart.axis());
    return axis;
  }

  private List<String> names() {
    return chart.bars().stream().map(bar -> PlotStyle.name(bar.name(), LONGEST_NAME)).toList();
  }

  private void addBars(XYPlot plot) {
    XYIntervalSeriesCollection all = new XYIntervalSeriesCollection();
    XYBarRenderer renderer = new XYBarRenderer();
    renderer.setBarPainter(new StandardXYBarPainter());
    renderer.setShadowVisible(false);
    renderer.setUseYInterval(true);
    List<BarChart.Bar> bars = chart.bars();
    for (int part = 0; part < chart.parts().size(); part++) {
      XYIntervalSeries series = new XYIntervalSeries(chart.parts().get(part));
      for (int i = 0; i < bars.size(); i++) {
        double from = 0;
        for (int before = 0; before < part; before++) {
          from += bars.get(i).values()[before];
        }
        double to = from + bars.get(i).values()[part];
        series.add((from + to) / 2, from, to, i, i - HALF_BAR, i + HALF_BAR);
      }
      all.addSeries(series);
      renderer.setSeriesPaint(part, PlotStyle.label(part));
    }
    plot.setDataset(all);
    plot.setRenderer(renderer);
  }
}
