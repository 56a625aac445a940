package io.steelyard.reports;

import io.steelyard.lab.record.Summary;
import io.steelyard.lab.record.Summary.Cell;
import io.steelyard.lab.record.Summary.Comparison;
import io.steelyard.reports.PlotAxes.Tick;
import io.steelyard.reports.terminal.DisplayWidth;
import io.steelyard.reports.terminal.Format;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.geom.Ellipse2D;
import java.awt.geom.Rectangle2D;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.axis.AxisLocation;
import org.jfree.chart.axis.LogAxis;
import org.jfree.chart.axis.NumberAxis;
import org.jfree.chart.plot.IntervalMarker;
import org.jfree.chart.plot.ValueMarker;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.xy.XYErrorRenderer;
import org.jfree.chart.ui.Layer;
import org.jfree.chart.ui.RectangleInsets;
import org.jfree.data.xy.XYIntervalSeries;
import org.jfree.data.xy.XYIntervalSeriesCollection;

/**
 * A forest plot: each ratio to the baseline with its 95 % interval on a logarithmic axis, so that
 * twice as fast and half as fast are equally far from 1.
 */
final class RatioPlot implements Plots.Drawing {

  private static final int WIDTH = 920;
  private static final int ROW = 26;
  private static final int AROUND_ROWS = 128;
  private static final double GAP_BETWEEN_METRICS = 0.5;
  private static final int LONGEST_MODEL = 60;
  private static final int LONGEST_LABEL = 34;

  /** Labels up to this length fit the width as it is; a longer one widens the figure. */
  private static final int FREE_LABEL = 16;

  private static final int WIDTH_OF_CHARACTER = 7;

  /** Up to this ratio a logarithmic axis is so nearly linear that linear ticks read better. */
  private static final double NEARLY_LINEAR = 1.3;

  private record Row(double y, Comparison comparison, String verdict) {}

  private final Summary summary;
  private final double margin;
  private final List<Row> rows = new ArrayList<>();
  private final List<Tick> metrics = new ArrayList<>();
  private double bottom;

  RatioPlot(Summary summary, double margin) {
    this.summary = summary;
    this.margin = margin;
    Map<String, List<Comparison>> byMetric = new LinkedHashMap<>();
    for (Comparison comparison : summary.comparisons()) {
      byMetric.computeIfAbsent(comparison.metric(), m -> new ArrayList<>()).add(comparison);
    }
    boolean gaps = byMetric.values().stream().anyMatch(group -> group.size() > 1);
    double y = 0;
    for (Map.Entry<String, List<Comparison>> entry : byMetric.entrySet()) {
      metrics.add(new Tick(y, entry.getKey()));
      for (Comparison comparison : entry.getValue()) {
        rows.add(new Row(y, comparison, Rows.verdict(comparison, unit(comparison))));
        y++;
      }
      y += gaps ? GAP_BETWEEN_METRICS : 0;
    }
    bottom = y - (gaps ? GAP_BETWEEN_METRICS : 0);
  }

  @Override
  public int width() {
    int longest =
        labels().size() == 1 ? 0 : labels().stream().mapToInt(DisplayWidth::of).max().orElse(0);
    return WIDTH + WIDTH_OF_CHARACTER * Math.max(0, longest - FREE_LABEL);
  }

  @Override
  public int height() {
    return (int) (bottom * ROW) + AROUND_ROWS;
  }

  @Override
  public void draw(Graphics2D graphics) {
    XYPlot plot = new XYPlot();
    PlotStyle.plain(plot);
    plot.setDomainAxis(ratioAxis());
    boolean oneSubject = labels().size() == 1;
    NumberAxis left = PlotAxes.linear(oneSubject ? metrics : ticks(row -> label(row.comparison())));
    vertical(left, oneSubject ? PlotStyle.STRONG : PlotStyle.TEXT);
    plot.setRangeAxis(0, left);
    NumberAxis figures = PlotAxes.linear(ticks(RatioPlot::figure));
    vertical(figures, PlotStyle.SMALL);
    plot.setRangeAxis(1, figures);
    plot.setRangeAxisLocation(1, AxisLocation.BOTTOM_OR_RIGHT);
    NumberAxis verdicts = PlotAxes.linear(ticks(Row::verdict));
    vertical(verdicts, PlotStyle.SMALL);
    plot.setRangeAxis(3, verdicts);
    plot.setRangeAxisLocation(3, AxisLocation.BOTTOM_OR_RIGHT);
    if (!oneSubject) {
      NumberAxis names = PlotAxes.linear(metrics);
      vertical(names, PlotStyle.STRONG);
      plot.setRangeAxis(2, names);
      plot.setRangeAxisLocation(2, AxisLocation.BOTTOM_OR_LEFT);
    }
    plot.addDomainMarker(
        marker(new IntervalMarker(1 - margin, 1 + margin, PlotStyle.BAND)), Layer.BACKGROUND);
    plot.addDomainMarker(new ValueMarker(1, PlotStyle.DIM, PlotStyle.THIN), Layer.BACKGROUND);
    addPoints(plot);

    JFreeChart chart = PlotStyle.chart(plot);
    chart.setPadding(new RectangleInsets(18, 22, 16, 22));
    chart.setTitle(PlotStyle.title(title(), PlotStyle.TITLE, PlotStyle.INK));
    chart.addSubtitle(PlotStyle.title(subtitle(), PlotStyle.SMALL, PlotStyle.DIM));
    chart.draw(graphics, new Rectangle2D.Double(0, 0, width(), height()));
  }

  private static IntervalMarker marker(IntervalMarker band) {
    band.setAlpha(1f);
    return band;
  }

  private void vertical(NumberAxis axis, Font font) {
    axis.setRange(-0.7, bottom - 0.3);
    axis.setInverted(true);
    axis.setTickLabelFont(font);
    axis.setTickLabelPaint(PlotStyle.INK);
    axis.setTickLabelInsets(new RectangleInsets(2, 9, 2, 9));
  }

  /** Symmetric around 1, wide enough for every interval, never so narrow that noise looks large. */
  private LogAxis ratioAxis() {
    double reach = Math.log(1 + 2 * margin);
    for (Row row : rows) {
      Comparison c = row.comparison();
      for (Double bound : new Double[] {c.ratio(), c.low(), c.high()}) {
        if (bound != null && bound > 0 && Double.isFinite(bound)) {
          reach = Math.max(reach, Math.abs(Math.log(bound)));
        }
      }
    }
    double low = Math.exp(-1.08 * reach);
    double high = Math.exp(1.08 * reach);
    List<List<Double>> values =
        high < NEARLY_LINEAR
            ? PlotAxes.roundLinear(low, high)
            : PlotAxes.roundLogarithmic(low, high);
    LogAxis axis =
        PlotAxes.logarithmicFrom(
            values.stream()
                .map(set -> set.stream().map(v -> new Tick(v, Format.compact(v) + "×")).toList())
                .toList());
    axis.setRange(low, high);
    axis.setLabel("← worse      ratio to " + baseline() + ", log scale      better →");
    axis.setLabelInsets(new RectangleInsets(8, 0, 0, 0));
    axis.setAxisLineVisible(true);
    axis.setAxisLinePaint(PlotStyle.RULE);
    axis.setTickMarksVisible(true);
    axis.setTickMarkPaint(PlotStyle.RULE);
    return axis;
  }

  private void addPoints(XYPlot plot) {
    XYIntervalSeriesCollection points = new XYIntervalSeriesCollection();
    XYErrorRenderer renderer = new XYErrorRenderer();
    renderer.setDrawYError(false);
    renderer.setDrawXError(true);
    renderer.setCapLength(0);
    renderer.setErrorStroke(new BasicStroke(2.2f, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND));
    for (Row row : rows) {
      Comparison c = row.comparison();
      if (c.ratio() == null || !(c.ratio() > 0)) {
        continue;
      }
      int index = points.getSeriesCount();
      boolean interval = c.low() != null && c.high() != null;
      XYIntervalSeries series = new XYIntervalSeries(index);
      series.add(
          c.ratio(),
          // An interval that reaches zero leaves the logarithmic axis at its left end.
          interval ? Math.max(c.low(), 1e-9) : c.ratio(),
          interval ? c.high() : c.ratio(),
          row.y(),
          row.y(),
          row.y());
      points.addSeries(series);
      Color colour = PlotStyle.verdict(row.verdict());
      renderer.setSeriesPaint(index, colour);
      renderer.setSeriesShape(index, new Ellipse2D.Double(-4, -4, 8, 8));
      // Hollow: an estimate that nothing vouches for.
      renderer.setSeriesShapesFilled(index, interval);
    }
    plot.setDataset(points);
    plot.setRenderer(renderer);
  }

  private static String figure(Row row) {
    Comparison c = row.comparison();
    return c.ratio() == null ? "–" : Figure.brackets(c.ratio(), c.low(), c.high()).text("×");
  }

  private List<Tick> ticks(Function<Row, String> text) {
    return rows.stream().map(row -> new Tick(row.y(), text.apply(row))).toList();
  }

  private List<String> labels() {
    return summary.comparisons().stream().map(this::label).distinct().toList();
  }

  private String label(Comparison comparison) {
    boolean severalPrecisions =
        summary.comparisons().stream().map(Comparison::precision).distinct().count() > 1;
    String label = PlotStyle.name(comparison.subject(), LONGEST_LABEL);
    return severalPrecisions ? label + " " + comparison.precision() : label;
  }

  private String baseline() {
    List<String> baselines =
        summary.comparisons().stream().map(Comparison::baseline).distinct().toList();
    return baselines.size() == 1
        ? PlotStyle.name(baselines.getFirst(), LONGEST_LABEL)
        : "the baseline";
  }

  private String title() {
    List<String> labels = labels();
    return (labels.size() == 1 ? labels.getFirst() : "All") + " against " + baseline();
  }

  private String subtitle() {
    return PlotStyle.name(summary.model(), LONGEST_MODEL)
        + (Rows.randomWeights(summary) ? ", random weights" : "")
        + ".  Ratio with 95 % interval; above 1 is better, whatever the unit.  Shaded: the margin"
        + " of ±"
        + Format.compact(100 * margin)
        + " %.";
  }

  private String unit(Comparison comparison) {
    return summary.cells().stream()
        .filter(cell -> cell.metric().equals(comparison.metric()))
        .map(Cell::unit)
        .findFirst()
        .orElse("");
  }
}
