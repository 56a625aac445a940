package io.steelyard.reports;

import io.steelyard.reports.PlotAxes.Tick;
import io.steelyard.reports.terminal.DisplayWidth;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.geom.Ellipse2D;
import java.awt.geom.Rectangle2D;
import java.util.List;
import java.util.function.Function;
import java.util.stream.DoubleStream;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.axis.AxisLocation;
import org.jfree.chart.axis.ValueAxis;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.xy.XYLineAndShapeRenderer;
import org.jfree.data.xy.XYSeries;
import org.jfree.data.xy.XYSeriesCollection;

/** Rows of dots: full where something was measured, hollow where it was only predicted. */
final class ReachPlot implements Plots.Drawing {
  private static final int WIDTH = 920;
  private static final int ROW = 26;
  private static final int AROUND_ROWS = 128;
  private static final int LONGEST_NAME = 40;
  private static final int LONGEST_REASON = 50;
  private static final int FREE_NAME = 16;
  private static final int WIDTH_OF_CHARACTER = 7;

  private final ReachChart chart;

  ReachPlot(ReachChart chart) {
    this.chart = chart;
  }

  @Override
  public int width() {
    int longest =
        chart.rows().stream()
            .mapToInt(row -> DisplayWidth.of(PlotStyle.name(row.name(), LONGEST_NAME)))
            .max()
            .orElseThrow();
    return WIDTH + WIDTH_OF_CHARACTER * Math.max(0, longest - FREE_NAME);
  }

  @Override
  public int height() {
    return chart.rows().size() * ROW + AROUND_ROWS;
  }

  @Override
  public void draw(Graphics2D graphics) {
    XYPlot plot = new XYPlot();
    PlotStyle.plain(plot);
    plot.setDomainAxis(reached());
    plot.setDomainGridlinesVisible(true);
    plot.setDomainGridlinePaint(PlotStyle.RULE);
    plot.setDomainGridlineStroke(PlotStyle.THIN);
    plot.setRangeAxis(0, PlotAxes.rows(texts(ReachChart.Row::name, LONGEST_NAME)));
    plot.setRangeAxis(1, PlotAxes.rows(texts(ReachChart.Row::why, LONGEST_REASON)));
    plot.setRangeAxisLocation(1, AxisLocation.BOTTOM_OR_RIGHT);
    addDots(plot);
    JFreeChart drawn = PlotStyle.chart(plot, chart.title(), chart.subtitle());
    drawn.draw(graphics, new Rectangle2D.Double(0, 0, width(), height()));
  }

  private ValueAxis reached() {
    double[] all =
        chart.rows().stream()
            .flatMapToDouble(row -> DoubleStream.of(row.reached(), row.predicted()))
            .filter(at -> at > 0)
            .distinct()
            .sorted()
            .toArray();
    double[] drawn = all.length == 0 ? new double[] {1} : all;
    List<Tick> ticks =
        DoubleStream.of(drawn).mapToObj(at -> new Tick(at, chart.tick().apply(at))).toList();
    ValueAxis axis = PlotAxes.values(drawn[0], drawn[drawn.length - 1], List.of(ticks));
    axis.setLabel(chart.axis());
    axis.setAxisLineVisible(true);
    axis.setAxisLinePaint(PlotStyle.RULE);
    return axis;
  }

  private List<String> texts(Function<ReachChart.Row, String> text, int longest) {
    return chart.rows().stream().map(text).map(each -> PlotStyle.name(each, longest)).toList();
  }

  private void addDots(XYPlot plot) {
    XYSeriesCollection dots = new XYSeriesCollection();
    XYLineAndShapeRenderer renderer = new XYLineAndShapeRenderer(true, true);
    for (int i = 0; i < chart.rows().size(); i++) {
      ReachChart.Row row = chart.rows().get(i);
      add(dots, renderer, i, row.reached(), true);
      add(dots, renderer, i, row.predicted(), false);
    }
    plot.setDataset(dots);
    plot.setRenderer(renderer);
  }

  private static void add(
      XYSeriesCollection dots, XYLineAndShapeRenderer renderer, int row, double at, boolean full) {
    if (!(at > 0)) {
      return;
    }
    int index = dots.getSeriesCount();
    XYSeries series = new XYSeries(index);
    series.add(at, row);
    dots.addSeries(series);
    Color colour = PlotStyle.label(0);
    renderer.setSeriesPaint(index, colour);
    renderer.setSeriesOutlineStroke(index, new BasicStroke(1.6f));
    renderer.setSeriesShape(index, new Ellipse2D.Double(-4.5, -4.5, 9, 9));
    renderer.setSeriesShapesFilled(index, full);
  }
}
