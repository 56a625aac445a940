package io.steelyard.reports;

import java.awt.BasicStroke;
import java.awt.Graphics2D;
import java.awt.geom.Ellipse2D;
import java.awt.geom.Rectangle2D;
import java.util.function.Function;
import java.util.stream.DoubleStream;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.annotations.XYTextAnnotation;
import org.jfree.chart.axis.ValueAxis;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.xy.XYLineAndShapeRenderer;
import org.jfree.chart.ui.RectangleInsets;
import org.jfree.chart.ui.TextAnchor;
import org.jfree.data.xy.XYSeries;
import org.jfree.data.xy.XYSeriesCollection;

/** The lines of a chart, each with its name at its end. */
final class LinePlot implements Plots.Drawing {
  private static final int WIDTH = 920;
  private static final int HEIGHT = 420;
  private static final int LONGEST_TITLE = 80;
  private static final int LONGEST_SUBTITLE = 130;
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
    ValueAxis places = axis(LineChart.Line::at);
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
      XYSeries series = new XYSeries(i);
      for (int point = 0; point < line.at().length; point++) {
        series.add(line.at()[point], line.values()[point]);
      }
      all.addSeries(series);
      renderer.setSeriesPaint(i, PlotStyle.label(i));
      renderer.setSeriesStroke(i, new BasicStroke(1.6f));
      renderer.setSeriesShape(i, new Ellipse2D.Double(-DOT / 2, -DOT / 2, DOT, DOT));
      plot.addAnnotation(name(i, line));
    }
    plot.setDataset(all);
    plot.setRenderer(renderer);
    JFreeChart drawn = PlotStyle.chart(plot);
    drawn.setPadding(new RectangleInsets(18, 22, 16, 110));
    drawn.setTitle(
        PlotStyle.title(
            PlotStyle.name(chart.title(), LONGEST_TITLE), PlotStyle.TITLE, PlotStyle.INK));
    drawn.addSubtitle(
        PlotStyle.title(
            PlotStyle.name(chart.subtitle(), LONGEST_SUBTITLE), PlotStyle.SMALL, PlotStyle.DIM));
    drawn.draw(graphics, new Rectangle2D.Double(0, 0, WIDTH, HEIGHT));
  }

  private static XYTextAnnotation name(int index, LineChart.Line line) {
    int last = line.at().length - 1;
    XYTextAnnotation name =
        new XYTextAnnotation("  " + line.name(), line.at()[last], line.values()[last]);
    name.setFont(PlotStyle.STRONG);
    name.setPaint(PlotStyle.label(index));
    name.setTextAnchor(TextAnchor.CENTER_LEFT);
    return name;
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
