package io.steelyard.reports;

import io.steelyard.reports.terminal.DisplayWidth;
import io.steelyard.reports.terminal.Style;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.axis.ValueAxis;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.title.TextTitle;
import org.jfree.chart.ui.HorizontalAlignment;
import org.jfree.chart.ui.RectangleInsets;

/** What all figures have in common: few colours, thin lines, room around things. */
final class PlotStyle {
  private static final int LONGEST_TITLE = 80;
  private static final int LONGEST_SUBTITLE = 130;

  static final Color INK = new Color(0x22, 0x22, 0x22);
  static final Color DIM = new Color(0x6B, 0x6B, 0x6B);
  static final Color RULE = new Color(0xDD, 0xDD, 0xDD);
  static final Color BAND = new Color(0xE2, 0xE2, 0xE2);
  static final Color DISTURBED = new Color(0xFB, 0xEC, 0xD2);

  /** Okabe and Ito's palette, told apart with any kind of colour vision; ordered by contrast. */
  private static final Color[] PALETTE = {
    new Color(0x00, 0x72, 0xB2),
    new Color(0xD5, 0x5E, 0x00),
    new Color(0x00, 0x9E, 0x73),
    new Color(0xCC, 0x79, 0xA7),
    new Color(0xE6, 0x9F, 0x00),
    new Color(0x56, 0xB4, 0xE9),
    INK
  };

  static final Font TITLE = new Font(Font.SANS_SERIF, Font.BOLD, 16);
  static final Font STRONG = new Font(Font.SANS_SERIF, Font.BOLD, 12);
  static final Font TEXT = new Font(Font.SANS_SERIF, Font.PLAIN, 12);
  static final Font SMALL = new Font(Font.SANS_SERIF, Font.PLAIN, 11);

  static final BasicStroke THIN = new BasicStroke(1f);

  private PlotStyle() {}

  /** A name as a figure shows it: in one line, cut in the middle where it is long. */
  static String name(String name, int longest) {
    return DisplayWidth.shorten(Style.FILE.adapt(name), longest);
  }

  static Color label(int index) {
    return PALETTE[index % PALETTE.length];
  }

  /** How often all colours were used before a label: those of one colour differ in it. */
  static int lap(int index) {
    return index / PALETTE.length;
  }

  static Color verdict(String verdict) {
    return switch (verdict) {
      case "faster", "smaller" -> PALETTE[0];
      case "slower", "larger" -> PALETTE[1];
      case "equivalent" -> PALETTE[2];
      default -> new Color(0x8C, 0x8C, 0x8C);
    };
  }

  /** The colour mixed with white: lighter on any background, without transparency. */
  static Color lighter(Color colour, double share) {
    return new Color(
        (int) Math.round(colour.getRed() * share + 255 * (1 - share)),
        (int) Math.round(colour.getGreen() * share + 255 * (1 - share)),
        (int) Math.round(colour.getBlue() * share + 255 * (1 - share)));
  }

  static void smooth(Graphics2D graphics) {
    graphics.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
    graphics.setRenderingHint(
        RenderingHints.KEY_TEXT_ANTIALIASING, RenderingHints.VALUE_TEXT_ANTIALIAS_ON);
    graphics.setRenderingHint(
        RenderingHints.KEY_FRACTIONALMETRICS, RenderingHints.VALUE_FRACTIONALMETRICS_ON);
    graphics.setRenderingHint(RenderingHints.KEY_STROKE_CONTROL, RenderingHints.VALUE_STROKE_PURE);
  }

  static void plain(XYPlot plot) {
    plot.setBackgroundPaint(null);
    plot.setOutlineVisible(false);
    plot.setDomainGridlinesVisible(false);
    plot.setRangeGridlinesVisible(false);
    plot.setAxisOffset(RectangleInsets.ZERO_INSETS);
  }

  static void plain(ValueAxis axis) {
    axis.setTickLabelFont(SMALL);
    axis.setTickLabelPaint(DIM);
    axis.setLabelFont(SMALL);
    axis.setLabelPaint(DIM);
    axis.setTickMarksVisible(false);
    axis.setAxisLineVisible(false);
  }

  static JFreeChart chart(XYPlot plot) {
    JFreeChart chart = new JFreeChart(null, TEXT, plot, false);
    chart.setBackgroundPaint(null);
    chart.setPadding(RectangleInsets.ZERO_INSETS);
    return chart;
  }

  /** A chart with room around it, a title and a line of what is shown. */
  static JFreeChart chart(XYPlot plot, String title, String subtitle) {
    JFreeChart chart = chart(plot);
    chart.setPadding(new RectangleInsets(18, 22, 16, 22));
    chart.setTitle(title(name(title, LONGEST_TITLE), TITLE, INK));
    chart.addSubtitle(title(name(subtitle, LONGEST_SUBTITLE), SMALL, DIM));
    return chart;
  }

  static TextTitle title(String text, Font font, Color colour) {
    TextTitle title = new TextTitle(text, font);
    title.setPaint(colour);
    title.setHorizontalAlignment(HorizontalAlignment.LEFT);
    title.setTextAlignment(HorizontalAlignment.LEFT);
    title.setMargin(0, 0, 6, 0);
    return title;
  }
}
