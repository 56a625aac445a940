package io.steelyard.reports;

import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import javax.imageio.ImageIO;
import org.jfree.svg.SVGGraphics2D;

/**
 * The figures of a run, each as SVG and as PNG: ratios with intervals, and every sample; and that
 * of a metric over many runs.
 */
public final class Plots {

  /** Something of a fixed size that can be drawn. */
  interface Drawing {
    int width();

    int height();

    void draw(Graphics2D graphics);
  }

  /** Draws when asked, since building a figure may already touch the host's fonts. */
  interface DrawingSource {
    Drawing get();
  }

  /**
   * What became of the figures.
   *
   * @param files the files written
   * @param problems a sentence for each figure that could not be drawn, saying what to do
   */
  public record Result(List<Path> files, List<String> problems) {
    public Result {
      files = List.copyOf(files);
      problems = List.copyOf(problems);
    }
  }

  static final String RATIOS = "ratios";
  static final String QUALITY = "quality";
  static final String SAMPLES = "samples";
  static final String TREND = "trend";

  /**
   * Verdana has the widths of DejaVu Sans, which most servers measure with. Without quotes: they
   * would end the attribute.
   */
  static final String SVG_FONTS = "DejaVu Sans, Verdana, sans-serif";

  private static final int PNG_SCALE = 2;

  private Plots() {}

  /** What is drawn to files of a name. */
  record Figure(String name, DrawingSource source) {}

  /**
   * Draws {@code ratios.svg} and {@code .png} where something was compared, {@code samples.svg} and
   * {@code .png} where there are samples, {@code quality.svg} and {@code .png} of precisions, and
   * the charts of the run's own kind. A host without fonts gets none, and a sentence why.
   *
   * @throws IOException if a file can't be written
   */
  public static Result write(Path directory, ReportInput input) throws IOException {
    List<Figure> figures = new ArrayList<>();
    if (input.summary().comparisons().stream().anyMatch(c -> c.ratio() != null)) {
      figures.add(new Figure(RATIOS, () -> new RatioPlot(input.summary(), input.margin())));
    }
    if (QualityPlot.isPossible(input.summary())) {
      figures.add(new Figure(QUALITY, () -> new QualityPlot(input.summary())));
    }
    if (input.series().stream().flatMap(s -> s.blocks().stream()).anyMatch(Plots::hasSamples)) {
      String model =
          input.summary().model() + (Rows.randomWeights(input.summary()) ? ", random weights" : "");
      figures.add(new Figure(SAMPLES, () -> new SamplesPlot(model, input.series())));
    }
    input.charts().forEach(chart -> figures.add(figure(chart)));
    return draw(directory, figures);
  }

  /**
   * Draws {@code trend.svg} and {@code trend.png}. A host without fonts gets none, and a sentence
   * why.
   *
   * @throws IOException if a file can't be written
   */
  public static Result write(Path directory, TrendChart chart) throws IOException {
    return draw(directory, List.of(new Figure(TREND, () -> new TrendPlot(chart))));
  }

  /**
   * Draws a chart to an SVG and a PNG file of its name. A host without fonts gets none, and a
   * sentence why.
   *
   * @throws IOException if a file can't be written
   */
  public static Result write(Path directory, Chart chart) throws IOException {
    return write(directory, List.of(chart));
  }

  /**
   * Draws charts, each to an SVG and a PNG file of its name. A host without fonts gets none, and
   * sentences why.
   *
   * @throws IOException if a file can't be written
   */
  public static Result write(Path directory, List<? extends Chart> charts) throws IOException {
    return draw(directory, charts.stream().map(Plots::figure).toList());
  }

  private static Figure figure(Chart chart) {
    return switch (chart) {
      case LineChart lines -> new Figure(chart.name(), () -> new LinePlot(lines));
      case BarChart bars -> new Figure(chart.name(), () -> new BarPlot(bars));
      case ReachChart reach -> new Figure(chart.name(), () -> new ReachPlot(reach));
      case HeatMap map -> new Figure(chart.name(), () -> new HeatMapPlot(map));
    };
  }

  private static boolean hasSamples(Series.Block block) {
    return !block.warmUp().isEmpty() || !block.trials().isEmpty();
  }

  /** Draws figures, several at once: each takes some tenths of a second. */
  static Result draw(Path directory, List<Figure> figures) throws IOException {
    Files.createDirectories(directory);
    // No figure needs a display; without this, a DISPLAY that can't be reached would be an error.
    if (System.getProperty("java.awt.headless") == null) {
      System.setProperty("java.awt.headless", "true");
    }
    try {
      List<Result> results =
          figures.parallelStream().map(figure -> draw(directory, figure)).toList();
      return new Result(
          results.stream().flatMap(result -> result.files().stream()).toList(),
          results.stream().flatMap(result -> result.problems().stream()).toList());
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private static Result draw(Path directory, Figure figure) {
    String svg;
    BufferedImage image;
    try {
      Drawing drawing = figure.source().get();
      svg = svg(figure.name(), drawing);
      image = image(drawing);
    } catch (RuntimeException | Error e) {
      // Without fonts the JDK throws a plain Error, or one of several others by platform.
      if (e instanceof VirtualMachineError && !(e instanceof InternalError)) {
        throw e;
      }
      return new Result(List.of(), List.of(explain(figure.name(), e)));
    }
    try {
      Path svgFile = directory.resolve(figure.name() + ".svg");
      Files.writeString(svgFile, svg);
      Path pngFile = directory.resolve(figure.name() + ".png");
      boolean written = ImageIO.write(image, "png", pngFile.toFile());
      return new Result(written ? List.of(svgFile, pngFile) : List.of(svgFile), List.of());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String svg(String name, Drawing drawing) {
    SVGGraphics2D graphics = new SVGGraphics2D(drawing.width(), drawing.height());
    // The default prefix is the time: the same run would give another file each time.
    graphics.setDefsKeyPrefix(name);
    graphics.setFontFunction(family -> SVG_FONTS);
    graphics.setGeomDoubleConverter(Plots::hundredths);
    paint(graphics, drawing);
    return graphics.getSVGDocument();
  }

  /** No screen shows more, and a figure may hold thousands of points. */
  private static String hundredths(double value) {
    return String.valueOf(Math.round(value * 100) / 100.0);
  }

  private static BufferedImage image(Drawing drawing) {
    BufferedImage image =
        new BufferedImage(
            PNG_SCALE * drawing.width(), PNG_SCALE * drawing.height(), BufferedImage.TYPE_INT_RGB);
    Graphics2D graphics = image.createGraphics();
    graphics.scale(PNG_SCALE, PNG_SCALE);
    paint(graphics, drawing);
    graphics.dispose();
    return image;
  }

  private static void paint(Graphics2D graphics, Drawing drawing) {
    PlotStyle.smooth(graphics);
    graphics.setColor(Color.WHITE);
    graphics.fillRect(0, 0, drawing.width(), drawing.height());
    drawing.draw(graphics);
  }

  /** Java speaks of missing fonts in many ways, none of which says what to install. */
  private static String explain(String name, Throwable thrown) {
    StringBuilder messages = new StringBuilder();
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      messages.append(t).append('\n');
    }
    String said = messages.toString().toLowerCase(Locale.ROOT);
    boolean fonts =
        thrown instanceof LinkageError
            || said.contains("font")
            || said.contains("freetype")
            || said.contains("sun.awt");
    return fonts
        ? "No "
            + name
            + " plot: this Java finds no fonts. Install fontconfig and a font (Debian, Ubuntu:"
            + " apt-get install fontconfig fonts-dejavu-core; Fedora: dnf install fontconfig"
            + " dejavu-sans-fonts; Alpine: apk add fontconfig ttf-dejavu) and write the report"
            + " again."
        : "No " + name + " plot: drawing it failed (" + thrown + "). The data are in trials.jsonl.";
  }
}
