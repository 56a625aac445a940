package io.steelyard.reports;

import io.steelyard.lab.record.Summary;
import io.steelyard.lab.record.Summary.Quality;
import io.steelyard.reports.PlotAxes.Tick;
import io.steelyard.reports.terminal.Format;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.geom.Ellipse2D;
import java.awt.geom.Rectangle2D;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.annotations.XYTextAnnotation;
import org.jfree.chart.axis.LogAxis;
import org.jfree.chart.axis.ValueAxis;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.xy.XYErrorRenderer;
import org.jfree.chart.ui.RectangleInsets;
import org.jfree.chart.ui.TextAnchor;
import org.jfree.data.xy.XYIntervalSeries;
import org.jfree.data.xy.XYIntervalSeriesCollection;

/**
 * Precisions by what they lose and how fast they are: the mean KL to the source on a logarithmic
 * axis, on which the source stands at the left edge, and the speed with its 95 % interval.
 */
final class QualityPlot implements Plots.Drawing {
  private static final int WIDTH = 820;
  private static final int HEIGHT = 460;
  private static final int LONGEST_LABEL = 34;

  /** The source loses nothing, which has no logarithm: it stands so far left of the others. */
  private static final double LEFT_OF_OTHERS = 5;

  private record Point(Quality quality, Summary.Cell speed) {}

  private final Summary summary;
  private final String metric;
  private final List<Point> points = new ArrayList<>();

  QualityPlot(Summary summary) {
    this.summary = summary;
    metric = speed(summary).orElseThrow();
    for (Quality quality : summary.quality().orElseThrow()) {
      QualityTable.cell(summary, quality.label(), metric)
          .filter(cell -> cell.mean() != null)
          .ifPresent(cell -> points.add(new Point(quality, cell)));
    }
  }

  /** Whether precisions were compared, and some speed of theirs is known. */
  static boolean isPossible(Summary summary) {
    return summary.quality().isPresent() && speed(summary).isPresent();
  }

  /** Decoding is what precisions are chosen for: the last speed measured. */
  private static Optional<String> speed(Summary summary) {
    return summary.cells().stream()
        .filter(cell -> cell.unit().equals("tok/s") && cell.mean() != null)
        .map(Summary.Cell::metric)
        .reduce((_, last) -> last);
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
    double least =
        points.stream()
            .mapToDouble(point -> point.quality().kldMean())
            .filter(kl -> kl > 0)
            .min()
            .orElse(1e-6);
    double left = least / LEFT_OF_OTHERS;
    double most =
        points.stream().mapToDouble(point -> point.quality().kldMean()).max().orElse(least);
    XYPlot plot = new XYPlot();
    PlotStyle.plain(plot);
    plot.setDomainAxis(lossAxis(left, Math.max(most, least)));
    plot.setRangeAxis(speedAxis());
    plot.setRangeGridlinesVisible(true);
    plot.setRangeGridlinePaint(PlotStyle.RULE);
    add(plot, left, Math.sqrt(left * Math.max(most, least)));

    JFreeChart chart = PlotStyle.chart(plot);
    chart.setPadding(new RectangleInsets(18, 22, 16, 22));
    chart.setTitle(
        PlotStyle.title("Speed by what the precision loses", PlotStyle.TITLE, PlotStyle.INK));
    chart.addSubtitle(
        PlotStyle.title(
            "%s%s, %s.  Better is up and to the left; 95 %% intervals of the speed."
                .formatted(
                    PlotStyle.name(summary.model(), 60),
                    Rows.randomWeights(summary) ? ", random weights" : "",
                    metric),
            PlotStyle.SMALL,
            PlotStyle.DIM));
    chart.draw(graphics, new Rectangle2D.Double(0, 0, width(), height()));
  }

  private static LogAxis lossAxis(double left, double most) {
    double low = left / 2;
    double high = most * 4;
    LogAxis axis =
        PlotAxes.logarithmicFrom(
            PlotAxes.roundLogarithmic(low, high).stream()
                .map(
                    set ->
                        set.stream()
                            .filter(value -> value > 2 * left)
                            .map(value -> new Tick(value, Format.compact(value)))
                            .toList())
                .toList());
    axis.setRange(low, high);
    axis.setLabel("mean KL to the source, nats, log scale (the source at the left: 0)");
    axis.setLabelInsets(new RectangleInsets(8, 0, 0, 0));
    axis.setAxisLineVisible(true);
    axis.setAxisLinePaint(PlotStyle.RULE);
    return axis;
  }

  private ValueAxis speedAxis() {
    double smallest = Double.POSITIVE_INFINITY;
    double largest = 0;
    for (Point point : points) {
      Summary.Cell speed = point.speed();
      smallest = Math.min(smallest, speed.low() == null ? speed.mean() : speed.low());
      largest = Math.max(largest, speed.high() == null ? speed.mean() : speed.high());
    }
    // An interval may reach below 0, which no speed does.
    ValueAxis axis = PlotAxes.values(Math.max(0, smallest), largest);
    axis.setLowerBound(Math.max(0, axis.getLowerBound()));
    axis.setLabel(metric + ", tok/s");
    return axis;
  }

  /**
   * Adds the points with their names.
   *
   * @param left where the source stands
   * @param middle names of points to the right of this stand to their left
   */
  private void add(XYPlot plot, double left, double middle) {
    XYIntervalSeriesCollection series = new XYIntervalSeriesCollection();
    XYErrorRenderer renderer = new XYErrorRenderer();
    renderer.setDrawXError(false);
    renderer.setDrawYError(true);
    renderer.setCapLength(0);
    for (int i = 0; i < points.size(); i++) {
      Quality quality = points.get(i).quality();
      Summary.Cell speed = points.get(i).speed();
      double x = quality.kldMean() > 0 ? quality.kldMean() : left;
      boolean interval = speed.low() != null && speed.high() != null;
      XYIntervalSeries one = new XYIntervalSeries(i);
      one.add(
          x,
          x,
          x,
          speed.mean(),
          interval ? speed.low() : speed.mean(),
          interval ? speed.high() : speed.mean());
      series.addSeries(one);
      Color colour = PlotStyle.label(i);
      renderer.setSeriesPaint(i, colour);
      renderer.setSeriesShape(i, new Ellipse2D.Double(-5, -5, 10, 10));
      XYTextAnnotation name =
          new XYTextAnnotation(
              (x > middle ? "%s, %s   " : "   %s, %s")
                  .formatted(
                      PlotStyle.name(quality.label(), LONGEST_LABEL),
                      Format.bytes(quality.bytes())),
              x,
              speed.mean());
      name.setTextAnchor(x > middle ? TextAnchor.CENTER_RIGHT : TextAnchor.CENTER_LEFT);
      name.setFont(PlotStyle.TEXT);
      name.setPaint(PlotStyle.INK);
      plot.addAnnotation(name);
    }
    plot.setDataset(series);
    plot.setRenderer(renderer);
  }
}
