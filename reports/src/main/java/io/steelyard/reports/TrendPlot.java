package io.steelyard.reports;

import io.steelyard.reports.PlotAxes.Tick;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.geom.Ellipse2D;
import java.awt.geom.Rectangle2D;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.axis.NumberAxis;
import org.jfree.chart.axis.ValueAxis;
import org.jfree.chart.plot.IntervalMarker;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.xy.XYErrorRenderer;
import org.jfree.chart.renderer.xy.XYLineAndShapeRenderer;
import org.jfree.chart.ui.Layer;
import org.jfree.chart.ui.RectangleAnchor;
import org.jfree.chart.ui.TextAnchor;
import org.jfree.data.xy.XYIntervalSeries;
import org.jfree.data.xy.XYIntervalSeriesCollection;
import org.jfree.data.xy.XYSeries;
import org.jfree.data.xy.XYSeriesCollection;

/** Every run of a trend with its interval, the levels between changes, and the changes numbered. */
final class TrendPlot implements Plots.Drawing {
  private static final int WIDTH = 920;
  private static final int HEIGHT = 420;
  private static final double SHARE_OF_COLOUR = 0.18;

  private final TrendChart chart;
  private final Figure.Scale scale;

  TrendPlot(TrendChart chart) {
    this.chart = chart;
    double[] range = chart.range();
    scale = Figure.Scale.of(chart.unit(), range[0], range[1]);
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
    plot.setDomainAxis(runAxis());
    plot.setRangeAxis(valueAxis());
    plot.setRangeGridlinesVisible(true);
    plot.setRangeGridlinePaint(PlotStyle.RULE);
    plot.setRangeGridlineStroke(PlotStyle.THIN);
    for (int i = 0; i < chart.changes().size(); i++) {
      plot.addDomainMarker(marker(i), Layer.BACKGROUND);
    }
    addLevels(plot);
    addPoints(plot);
    JFreeChart drawn =
        PlotStyle.chart(plot, chart.title() + "  (" + scale.unit() + ")", chart.subtitle());
    drawn.draw(graphics, new Rectangle2D.Double(0, 0, WIDTH, HEIGHT));
  }

  private IntervalMarker marker(int index) {
    TrendChart.Change change = chart.changes().get(index);
    Color colour =
        PlotStyle.verdict(
            switch (change.effect()) {
              case BETTER -> "faster";
              case WORSE -> "slower";
              case UNKNOWN -> "";
            });
    IntervalMarker band =
        new IntervalMarker(change.from(), change.to(), PlotStyle.lighter(colour, SHARE_OF_COLOUR));
    band.setAlpha(1f);
    band.setLabel(TrendText.mark(index + 1, change.effect()));
    band.setLabelFont(PlotStyle.STRONG);
    band.setLabelPaint(colour);
    band.setLabelAnchor(RectangleAnchor.TOP);
    band.setLabelTextAnchor(TextAnchor.TOP_CENTER);
    return band;
  }

  /** Behind the points, as the second of the plot's data. */
  private void addLevels(XYPlot plot) {
    XYSeriesCollection lines = new XYSeriesCollection();
    XYLineAndShapeRenderer renderer = new XYLineAndShapeRenderer(true, false);
    for (TrendChart.Level level : chart.levels()) {
      int index = lines.getSeriesCount();
      XYSeries line = new XYSeries(index, false, true);
      line.add(level.from(), level.start() * scale.factor());
      line.add(level.to(), level.end() * scale.factor());
      lines.addSeries(line);
      renderer.setSeriesPaint(index, PlotStyle.INK);
      renderer.setSeriesStroke(
          index, new BasicStroke(1.6f, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND));
    }
    plot.setDataset(1, lines);
    plot.setRenderer(1, renderer);
  }

  private void addPoints(XYPlot plot) {
    XYIntervalSeries runs = new XYIntervalSeries(0);
    for (int i = 0; i < chart.points().size(); i++) {
      TrendChart.Point point = chart.points().get(i);
      double value = point.value() * scale.factor();
      boolean interval = point.low() != null && point.high() != null;
      runs.add(
          i,
          i,
          i,
          value,
          interval ? point.low() * scale.factor() : value,
          interval ? point.high() * scale.factor() : value);
    }
    XYIntervalSeriesCollection points = new XYIntervalSeriesCollection();
    points.addSeries(runs);
    XYErrorRenderer renderer = new XYErrorRenderer();
    renderer.setDrawXError(false);
    renderer.setCapLength(0);
    renderer.setSeriesPaint(0, PlotStyle.label(0));
    renderer.setErrorPaint(PlotStyle.lighter(PlotStyle.label(0), 0.45));
    renderer.setErrorStroke(new BasicStroke(1.4f, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND));
    double size = Math.clamp(500.0 / chart.points().size(), 3, 7);
    renderer.setSeriesShape(0, new Ellipse2D.Double(-size / 2, -size / 2, size, size));
    plot.setDataset(0, points);
    plot.setRenderer(0, renderer);
  }

  private ValueAxis runAxis() {
    int runs = chart.points().size();
    List<List<Tick>> choices = new ArrayList<>();
    for (int step : new int[] {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000}) {
      choices.add(
          IntStream.range(0, runs)
              .filter(i -> i % step == 0)
              .mapToObj(i -> new Tick(i, PlotStyle.name(chart.points().get(i).when(), 24)))
              .toList());
    }
    NumberAxis axis = PlotAxes.linearFrom(choices);
    axis.setRange(-0.5, runs - 0.5);
    axis.setLabel("runs, the oldest first");
    axis.setAxisLineVisible(true);
    axis.setAxisLinePaint(PlotStyle.RULE);
    return axis;
  }

  /** Room for every point; an interval that is much wider leaves the figure. */
  private ValueAxis valueAxis() {
    double[] range = chart.range();
    double reach = 2 * (range[1] - range[0]);
    double low = range[0];
    double high = range[1];
    for (TrendChart.Point point : chart.points()) {
      if (point.low() != null && point.high() != null) {
        low = Math.min(low, reach > 0 ? Math.max(point.low(), range[0] - reach) : point.low());
        high = Math.max(high, reach > 0 ? Math.min(point.high(), range[1] + reach) : point.high());
      }
    }
    return PlotAxes.values(low * scale.factor(), high * scale.factor());
  }
}
