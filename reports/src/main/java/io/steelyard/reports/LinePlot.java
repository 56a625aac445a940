package io.steelyard.reports;

import io.steelyard.reports.terminal.Format;
import java.awt.BasicStroke;
import java.awt.Graphics2D;
import java.awt.geom.Ellipse2D;
import java.awt.geom.Rectangle2D;
import java.awt.geom.RectangularShape;
import java.util.List;
import java.util.function.Function;
import java.util.stream.DoubleStream;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.axis.ValueAxis;
import org.jfree.chart.block.BlockBorder;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.xy.XYLineAndShapeRenderer;
import org.jfree.chart.title.LegendTitle;
import org.jfree.chart.ui.HorizontalAlignment;
import org.jfree.chart.ui.RectangleEdge;
import org.jfree.chart.ui.RectangleInsets;
import org.jfree.data.xy.XYSeries;
import org.jfree.data.xy.XYSeriesCollection;

/** The lines of a chart, named in a legend above them: at their ends names could collide. */
final class LinePlot implements Plots.Drawing {
  private static final int WIDTH = 920;
  private static final int HEIGHT = 420;
  private static final int LONGEST_NAME = 30;
  private static final double DOT = 6;

  private final LineChart chart;

  LinePlot(LineChart chart) {
    this.chart = chart;
  }

  @Override
  public int width() {
    return WIDTH;
  }

  @Override
  public int height() {
    return HEIGHT;
  }

  @Override
  public void draw(Graphics2D graphics) {
    XYPlot plot = new XYPlot();
    PlotStyle.plain(plot);
    ValueAxis places = places();
    places.setLabel(chart.axis());
    places.setAxisLineVisible(true);
    places.setAxisLinePaint(PlotStyle.RULE);
    plot.setDomainAxis(places);
    plot.setRangeAxis(axis(LineChart.Line::values));
    plot.setRangeGridlinesVisible(true);
    plot.setRangeGridlinePaint(PlotStyle.RULE);
    plot.setRangeGridlineStroke(PlotStyle.THIN);
    XYSeriesCollection all = new XYSeriesCollection();
    XYLineAndShapeRenderer renderer = new XYLineAndShapeRenderer(true, true);
    for (int i = 0; i < chart.lines().size(); i++) {
      LineChart.Line line = chart.lines().get(i);
      XYSeries series = new XYSeries(shown(line.name(), all));
      for (int point = 0; point < line.at().length; point++) {
        series.add(line.at()[point], line.values()[point]);
      }
      all.addSeries(series);
      renderer.setSeriesPaint(i, PlotStyle.label(i));
      renderer.setSeriesStroke(i, stroke(PlotStyle.lap(i)));
      renderer.setSeriesShape(i, shape(PlotStyle.lap(i)));
    }
    plot.setDataset(all);
    plot.setRenderer(renderer);
    JFreeChart drawn = PlotStyle.chart(plot, chart.title(), chart.subtitle());
    drawn.addSubtitle(legend(plot));
    drawn.draw(graphics, new Rectangle2D.Double(0, 0, WIDTH, HEIGHT));
  }

  /** Whole lines, then dashes, shorter each time. */
  private static BasicStroke stroke(int lap) {
    float dash = 12f / (lap + 1);
    float[] dashes = lap == 0 ? null : new float[] {dash, 4};
    return new BasicStroke(1.6f, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 10, dashes, 0);
  }

  /** Circles, then squares. */
  private static RectangularShape shape(int lap) {
    RectangularShape shape = lap == 0 ? new Ellipse2D.Double() : new Rectangle2D.Double();
    shape.setFrame(-DOT / 2, -DOT / 2, DOT, DOT);
    return shape;
  }

  /** Names what a plot shows, above it. */
  static LegendTitle legend(XYPlot plot) {
    LegendTitle legend = new LegendTitle(plot);
    legend.setPosition(RectangleEdge.TOP);
    legend.setHorizontalAlignment(HorizontalAlignment.LEFT);
    legend.setItemFont(PlotStyle.TEXT);
    legend.setItemPaint(PlotStyle.INK);
    legend.setItemLabelPadding(new RectangleInsets(2, 4, 2, 14));
    legend.setFrame(BlockBorder.NONE);
    legend.setBackgroundPaint(null);
    legend.setMargin(0, 0, 6, 0);
    return legend;
  }

  /** The axis that the lines run over, with ticks where their points are if there is room. */
  private ValueAxis places() {
    List<PlotAxes.Tick> points =
        chart.lines().stream()
            .flatMapToDouble(line -> DoubleStream.of(line.at()))
            .distinct()
            .sorted()
            .mapToObj(at -> new PlotAxes.Tick(at, name(at)))
            .toList();
    return PlotAxes.values(points.getFirst().at(), points.getLast().at(), List.of(points));
  }

  private static String name(double at) {
    return at == Math.rint(at) ? Format.count(Math.round(at)) : Format.compact(at);
  }

  /** A line's name, cut no further than it differs from those before it. */
  private static String shown(String name, XYSeriesCollection before) {
    int longest = LONGEST_NAME;
    String shown = PlotStyle.name(name, longest);
    while (before.getSeriesIndex(shown) >= 0 && longest < name.length()) {
      longest++;
      shown = PlotStyle.name(name, longest);
    }
    return shown;
  }

  private ValueAxis axis(Function<LineChart.Line, double[]> values) {
    double[] all =
        chart.lines().stream()
            .flatMapToDouble(line -> DoubleStream.of(values.apply(line)))
            .toArray();
    return PlotAxes.values(
        DoubleStream.of(all).min().orElseThrow(), DoubleStream.of(all).max().orElseThrow());
  }
}
