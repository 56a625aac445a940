package io.steelyard.reports;

import io.steelyard.reports.Series.Block;
import io.steelyard.reports.terminal.DisplayWidth;
import io.steelyard.reports.terminal.Format;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.geom.Ellipse2D;
import java.awt.geom.Rectangle2D;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.axis.NumberAxis;
import org.jfree.chart.axis.ValueAxis;
import org.jfree.chart.plot.CrosshairState;
import org.jfree.chart.plot.IntervalMarker;
import org.jfree.chart.plot.PlotRenderingInfo;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.xy.AbstractXYItemRenderer;
import org.jfree.chart.renderer.xy.XYItemRendererState;
import org.jfree.chart.ui.Layer;
import org.jfree.data.xy.XYDataset;
import org.jfree.data.xy.XYSeries;
import org.jfree.data.xy.XYSeriesCollection;

/**
 * Every sample of the run, a panel a metric: blocks from left to right, in a block each label's
 * warm-up (light) and trials (full) in order. Drift, warm-up and outliers are there to be seen.
 */
final class SamplesPlot implements Plots.Drawing {

  private static final int WIDTH = 920;
  private static final int EDGE = 22;
  private static final int GUTTER = 34;
  private static final int PANEL_HEIGHT = 230;
  private static final int WIDE_PANEL_HEIGHT = 280;
  private static final int LEGEND_LINE = 20;
  private static final int TITLE_HEIGHT = 50;
  private static final int LONGEST_MODEL = 60;
  private static final int LONGEST_LABEL = 44;
  private static final int VALUE_AXIS_WIDTH = 46;

  private record Entry(String text, Color colour, boolean square) {}

  private final String model;
  private final Map<String, List<Series>> byMetric = new LinkedHashMap<>();
  private final List<String> labels;
  private final boolean anyWarmUp;
  private final boolean anyDisturbed;

  SamplesPlot(String model, List<Series> series) {
    this.model = PlotStyle.name(model, LONGEST_MODEL);
    for (Series one : series) {
      byMetric.computeIfAbsent(one.metric(), m -> new ArrayList<>()).add(one);
    }
    // What failed for every engine leaves nothing to draw.
    byMetric
        .values()
        .removeIf(all -> all.stream().flatMap(SamplesPlot::values).findAny().isEmpty());
    labels = series.stream().map(Series::label).distinct().toList();
    List<Block> blocks = series.stream().flatMap(s -> s.blocks().stream()).toList();
    anyWarmUp = blocks.stream().anyMatch(block -> !block.warmUp().isEmpty());
    anyDisturbed = blocks.stream().anyMatch(Block::disturbed);
  }

  @Override
  public int width() {
    return WIDTH;
  }

  @Override
  public int height() {
    int rows = (byMetric.size() + columns() - 1) / columns();
    return top() + rows * panelHeight() + (rows - 1) * GUTTER / 2 + EDGE / 2;
  }

  @Override
  public void draw(Graphics2D graphics) {
    graphics.setFont(PlotStyle.TITLE);
    graphics.setColor(PlotStyle.INK);
    graphics.drawString("Every sample, by block", EDGE, 34);
    float titleEnd = EDGE + (float) width(graphics, "Every sample, by block") + 14;
    graphics.setFont(PlotStyle.SMALL);
    graphics.setColor(PlotStyle.DIM);
    graphics.drawString(model, titleEnd, 34f);
    drawLegend(graphics);
    double panelWidth = (WIDTH - 2.0 * EDGE - (columns() - 1.0) * GUTTER) / columns();
    int index = 0;
    for (Map.Entry<String, List<Series>> entry : byMetric.entrySet()) {
      int row = index / columns();
      int column = index % columns();
      panel(entry.getKey(), entry.getValue(), panelWidth)
          .draw(
              graphics,
              new Rectangle2D.Double(
                  EDGE + column * (panelWidth + GUTTER),
                  top() + row * (panelHeight() + GUTTER / 2.0),
                  panelWidth,
                  panelHeight()));
      index++;
    }
  }

  private int columns() {
    return byMetric.size() > 2 ? 2 : 1;
  }

  private int panelHeight() {
    return columns() == 1 ? WIDE_PANEL_HEIGHT : PANEL_HEIGHT;
  }

  private int top() {
    return TITLE_HEIGHT + legendLines().size() * LEGEND_LINE + 14;
  }

  private JFreeChart panel(String metric, List<Series> series, double panelWidth) {
    List<Double> recorded = series.stream().flatMap(SamplesPlot::values).toList();
    double smallest = recorded.stream().mapToDouble(v -> v).min().orElse(0);
    double largest = recorded.stream().mapToDouble(v -> v).max().orElse(1);
    Figure.Scale scale = Figure.Scale.of(series.getFirst().unit(), smallest, largest);
    Map<Integer, Boolean> places = places(series);
    List<Integer> order = List.copyOf(places.keySet());

    XYPlot plot = new XYPlot();
    PlotStyle.plain(plot);
    plot.setDomainAxis(blockAxis(order));
    ValueAxis values = PlotAxes.values(smallest * scale.factor(), largest * scale.factor());
    // One width for all panels, so that their blocks stand below one another.
    values.setFixedDimension(VALUE_AXIS_WIDTH);
    plot.setRangeAxis(values);
    plot.setRangeGridlinesVisible(true);
    plot.setRangeGridlinePaint(PlotStyle.RULE);
    plot.setRangeGridlineStroke(PlotStyle.THIN);
    for (int i = 0; i < order.size(); i++) {
      if (places.get(order.get(i))) {
        IntervalMarker marker = new IntervalMarker(i - 0.5, i + 0.5, PlotStyle.DISTURBED);
        marker.setAlpha(1f);
        plot.addDomainMarker(marker, Layer.BACKGROUND);
      }
    }
    addPoints(plot, series, order, scale.factor(), panelWidth);
    JFreeChart chart = PlotStyle.chart(plot);
    chart.setTitle(
        PlotStyle.title(metric + "  (" + scale.unit() + ")", PlotStyle.STRONG, PlotStyle.INK));
    return chart;
  }

  private void addPoints(
      XYPlot plot, List<Series> series, List<Integer> order, double factor, double panelWidth) {
    XYSeriesCollection points = new XYSeriesCollection();
    int most =
        series.stream()
            .flatMap(s -> s.blocks().stream())
            .mapToInt(block -> block.warmUp().size() + block.trials().size())
            .max()
            .orElse(1);
    double perSample = panelWidth / (order.size() * (double) series.size() * most);
    double size = Math.clamp(0.8 * perSample, 2.6, 7);
    Dots renderer = new Dots(size);
    double slot = 0.84 / series.size();
    for (int k = 0; k < series.size(); k++) {
      Series one = series.get(k);
      XYSeries warmUp = new XYSeries(2 * k, false, true);
      XYSeries trials = new XYSeries(2 * k + 1, false, true);
      for (Block block : one.blocks()) {
        double left = order.indexOf(block.number()) - 0.42 + k * slot;
        int samples = block.warmUp().size() + block.trials().size();
        int i = 0;
        for (double value : block.warmUp()) {
          warmUp.add(left + slot * (i++ + 0.5) / samples, value * factor);
        }
        for (double value : block.trials()) {
          trials.add(left + slot * (i++ + 0.5) / samples, value * factor);
        }
      }
      Color colour = PlotStyle.label(labels.indexOf(one.label()));
      renderer.setSeriesPaint(points.getSeriesCount(), PlotStyle.lighter(colour, 0.35));
      points.addSeries(warmUp);
      renderer.setSeriesPaint(points.getSeriesCount(), colour);
      points.addSeries(trials);
    }
    plot.setDataset(points);
    plot.setRenderer(renderer);
  }

  private static ValueAxis blockAxis(List<Integer> order) {
    List<List<PlotAxes.Tick>> choices = new ArrayList<>();
    for (int step : new int[] {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}) {
      List<PlotAxes.Tick> ticks = new ArrayList<>();
      for (int i = 0; i < order.size(); i++) {
        int number = order.get(i);
        if (number % step == 0) {
          ticks.add(new PlotAxes.Tick(i, Format.count(number)));
        }
      }
      choices.add(ticks);
    }
    NumberAxis axis = PlotAxes.linearFrom(choices);
    axis.setRange(-0.5, order.size() - 0.5);
    axis.setLabel("block");
    axis.setAxisLineVisible(true);
    axis.setAxisLinePaint(PlotStyle.RULE);
    return axis;
  }

  /** Every block that any series has, in order, and whether it counts although disturbed. */
  private static Map<Integer, Boolean> places(List<Series> series) {
    Map<Integer, Boolean> places = new TreeMap<>();
    series.stream()
        .flatMap(one -> one.blocks().stream())
        .forEach(block -> places.merge(block.number(), block.disturbed(), Boolean::logicalOr));
    return places;
  }

  private static Stream<Double> values(Series series) {
    return series.blocks().stream()
        .flatMap(block -> Stream.concat(block.warmUp().stream(), block.trials().stream()));
  }

  private List<Entry> entries() {
    List<Entry> entries = new ArrayList<>();
    for (int i = 0; i < labels.size(); i++) {
      String label = PlotStyle.name(labels.get(i), LONGEST_LABEL);
      entries.add(new Entry(label, PlotStyle.label(i), false));
    }
    if (anyWarmUp) {
      entries.add(new Entry("warm-up: lighter", PlotStyle.lighter(PlotStyle.INK, 0.35), false));
    }
    if (anyDisturbed) {
      entries.add(new Entry("machine disturbed, block counts", PlotStyle.DISTURBED, true));
    }
    return entries;
  }

  /** The legend's entries, so many in a line as fit by an average width of a character. */
  private List<List<Entry>> legendLines() {
    List<List<Entry>> lines = new ArrayList<>();
    double used = Double.MAX_VALUE;
    for (Entry entry : entries()) {
      double needed = 40 + 7.6 * DisplayWidth.of(entry.text());
      if (used + needed > WIDTH - 2 * EDGE) {
        lines.add(new ArrayList<>());
        used = 0;
      }
      lines.getLast().add(entry);
      used += needed;
    }
    return lines;
  }

  private void drawLegend(Graphics2D graphics) {
    graphics.setFont(PlotStyle.TEXT);
    double y = TITLE_HEIGHT + 10;
    for (List<Entry> line : legendLines()) {
      double x = EDGE;
      for (Entry entry : line) {
        graphics.setColor(entry.colour());
        graphics.fill(
            entry.square()
                ? new Rectangle2D.Double(x, y - 10, 12, 12)
                : new Ellipse2D.Double(x + 1, y - 8.5, 9, 9));
        graphics.setColor(PlotStyle.INK);
        graphics.drawString(entry.text(), (float) x + 18, (float) y);
        x += 18 + width(graphics, entry.text()) + 22;
      }
      y += LEGEND_LINE;
    }
  }

  private static double width(Graphics2D graphics, String text) {
    return graphics.getFontMetrics().stringWidth(text);
  }

  /**
   * Fills circles: JFreeChart's own renderer would outline each as a path of eight times the size.
   */
  private static final class Dots extends AbstractXYItemRenderer {
    private final double size;

    Dots(double size) {
      this.size = size;
    }

    @Override
    public void drawItem(
        Graphics2D graphics,
        XYItemRendererState state,
        Rectangle2D area,
        PlotRenderingInfo info,
        XYPlot plot,
        ValueAxis blocks,
        ValueAxis values,
        XYDataset points,
        int series,
        int item,
        CrosshairState crosshair,
        int pass) {
      double x =
          blocks.valueToJava2D(points.getXValue(series, item), area, plot.getDomainAxisEdge());
      double y =
          values.valueToJava2D(points.getYValue(series, item), area, plot.getRangeAxisEdge());
      graphics.setPaint(getItemPaint(series, item));
      graphics.fill(new Ellipse2D.Double(x - size / 2, y - size / 2, size, size));
    }
  }
}
