package io.steelyard.reports;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

class PlotsTest {

  @TempDir Path directory;

  static Stream<ReportInput> runs() {
    return Stream.of(
        SampleRun.typical(),
        SampleRun.awkward(),
        SampleRun.grid(1, 2, 1),
        SampleRun.grid(8, 5, 12),
        SampleRun.grid(2, 2, 200));
  }

  @ParameterizedTest
  @MethodSource("runs")
  void figuresAreWellFormedAndKeepTextAsTextInsideTheirFrame(ReportInput run) throws Exception {
    write(run);
    for (String name : List.of("ratios", "samples")) {
      Element svg = parse(directory.resolve(name + ".svg"));
      double width = Double.parseDouble(svg.getAttribute("width"));
      double height = Double.parseDouble(svg.getAttribute("height"));
      NodeList texts = svg.getElementsByTagName("text");
      assertThat(texts.getLength()).isGreaterThan(4);
      for (int i = 0; i < texts.getLength(); i++) {
        Element text = (Element) texts.item(i);
        assertThat(Double.parseDouble(text.getAttribute("x")))
            .as(text.getTextContent())
            .isBetween(0.0, width);
        assertThat(Double.parseDouble(text.getAttribute("y")))
            .as(text.getTextContent())
            .isBetween(0.0, height);
      }
    }
  }

  @Test
  void linesAreNamedWholeAndTheirPlacesAreTicks() throws Exception {
    double[] at = {16, 64, 256};
    LineChart chart =
        new LineChart(
            "cache",
            "A title",
            "a subtitle",
            "tokens",
            List.of(
                new LineChart.Line("caching alone", at, new double[] {6, 11, 20}),
                new LineChart.Line("operations", at, new double[] {6.1, 11.2, 19.9})));
    Plots.write(directory, chart);
    assertThat(texts("cache.svg")).contains("caching alone", "operations", "16", "64", "256");
    NodeList all = parse(directory.resolve("cache.svg")).getElementsByTagName("text");
    for (int i = 0; i < all.getLength(); i++) {
      // The first area is the whole figure.
      assertThat(((Element) all.item(i)).getAttribute("clip-path"))
          .as(all.item(i).getTextContent())
          .endsWith("clip-0)");
    }
  }

  @Test
  void linesWhoseNamesDifferInTheMiddleAreToldApart() throws Exception {
    double[] one = {1};
    List<String> names =
        List.of(
            "block-sparse:pattern=local-window,block=16,window=256",
            "block-sparse:pattern=global-local,block=16,window=256",
            "block-sparse:pattern=strided,block=16,window=256");
    LineChart chart =
        new LineChart(
            "loss",
            "A title",
            "a subtitle",
            "density",
            names.stream().map(name -> new LineChart.Line(name, one, one)).toList());

    Plots.write(directory, chart);

    List<String> shown =
        texts("loss.svg").stream().filter(text -> text.startsWith("block-sparse")).toList();
    assertThat(shown).hasSize(names.size()).doesNotHaveDuplicates();
  }

  @Test
  void barsAreNamedAndLieEndToEnd() throws Exception {
    BarChart chart =
        new BarChart(
            "ranks",
            "A title",
            "a subtitle",
            "ms",
            List.of("compute", "wait"),
            List.of(
                new BarChart.Bar("rank 0", new double[] {80, 20}),
                new BarChart.Bar("rank 1", new double[] {60, 0})));
    Plots.write(directory, chart);
    assertThat(texts("ranks.svg"))
        .contains("A title", "a subtitle", "compute", "wait", "rank 0", "rank 1", "0", "100", "ms");
  }

  @Test
  void ratiosShowEachMetricFigureAndVerdict() throws Exception {
    write(SampleRun.typical());
    assertThat(texts("ratios.svg"))
        .contains("pp512", "0.345× [0.339, 0.352]", "slower", "memory", "larger", "1×");
  }

  @Test
  void samplesDrawEveryTrialAndWarmUp() throws Exception {
    ReportInput run = SampleRun.typical();
    write(run);
    long samples =
        run.series().stream()
            .flatMap(series -> series.blocks().stream())
            .mapToLong(block -> block.warmUp().size() + block.trials().size())
            .sum();
    Element svg = parse(directory.resolve("samples.svg"));
    NodeList ellipses = svg.getElementsByTagName("ellipse");
    // Two labels and the warm-up stand in the legend too.
    assertThat(ellipses.getLength()).isEqualTo(samples + 3);
  }

  @Test
  void trendShowsEveryRunItsLevelsAndItsChanges() throws Exception {
    writeTrend(TrendTextTest.typical(30));

    assertThat(texts("trend.svg"))
        .contains("tg64 of steelyard  (tok/s)", "model on a machine", "1!", "2+", "day 1");
    Element svg = parse(directory.resolve("trend.svg"));
    assertThat(
            svg.getElementsByTagName("ellipse").getLength()
                + svg.getElementsByTagName("path").getLength())
        .isGreaterThan(30);
    assertThat(ImageIO.read(directory.resolve("trend.png").toFile()).getWidth()).isEqualTo(1840);
  }

  @Test
  void trendOfAnyLengthAndSpreadCanBeDrawn() throws Exception {
    writeTrend(TrendTextTest.typical(3000));
    TrendChart.Point one = new TrendChart.Point("<&\u0001", 5, null, null);
    writeTrend(new TrendChart("<&", "", "ms", List.of(one), List.of(), List.of()));
    TrendChart.Point unsure = new TrendChart.Point("b", 4, -1e12, 1e12);
    writeTrend(new TrendChart("t", "", "ms", List.of(one, unsure), List.of(), List.of()));
    assertThat(texts("trend.svg")).contains("b");
  }

  @Test
  void namesCannotBreakTheFile() throws Exception {
    Series evil =
        SampleRun.series(new Random(1), "<b>&\u0001\n'\"", "pp512", "tok/s", 1, 0.1, 2, 1, 1);
    write(SampleRun.input(SampleRun.typical().summary(), List.of(evil)));
    assertThat(texts("samples.svg")).contains("<b>&??'\"");
  }

  @Test
  void pngShowsSomething() throws IOException {
    write(SampleRun.typical());
    BufferedImage image = ImageIO.read(directory.resolve("ratios.png").toFile());
    long inked =
        IntStream.range(0, image.getWidth() * image.getHeight())
            .filter(i -> image.getRGB(i % image.getWidth(), i / image.getWidth()) != -1)
            .count();
    assertThat(inked).isGreaterThan(1000);
  }

  @Test
  void sameRunGivesTheSameFile() throws IOException {
    write(SampleRun.typical());
    String first = Files.readString(directory.resolve("samples.svg"));
    write(SampleRun.typical());
    assertThat(Files.readString(directory.resolve("samples.svg"))).isEqualTo(first);
  }

  @Test
  void whatFailedForEveryEngineGetsNoPanel() throws Exception {
    ReportInput run = SampleRun.typical();
    List<Series> series = new ArrayList<>(run.series());
    series.add(new Series(series.getFirst().label(), "load-disk", "ms", List.of()));

    Plots.Result result = Plots.write(directory, SampleRun.input(run.summary(), series));

    assertThat(result.problems()).isEmpty();
    assertThat(String.join(" ", texts("samples.svg")))
        .contains("pp512")
        .doesNotContain("load-disk");
  }

  @Test
  void nothingComparedGivesNoRatioPlot() throws IOException {
    ReportInput alone = SampleRun.grid(1, 1, 3);
    Plots.Result result = Plots.write(directory, alone);
    assertThat(result.files().stream().map(file -> file.getFileName().toString()))
        .allMatch(name -> name.startsWith("samples"));
  }

  static Stream<Throwable> missingFonts() {
    return Stream.of(
        new Error("Probable fatal error: No physical fonts found."),
        new RuntimeException("Fontconfig head is null, check your fonts or fonts configuration"),
        new UnsatisfiedLinkError("libfreetype.so.6: cannot open shared object file"),
        new NoClassDefFoundError("Could not initialize class sun.font.SunFontManager"),
        new InternalError(new RuntimeException("java.lang.reflect: sun.awt.FontConfiguration")));
  }

  @ParameterizedTest
  @MethodSource("missingFonts")
  void missingFontsAreASentenceThatSaysWhatToInstall(Throwable thrown) throws IOException {
    Plots.Result result =
        Plots.draw(directory, List.of(new Plots.Figure("ratios", () -> fail(thrown))));
    assertThat(result.files()).isEmpty();
    assertThat(result.problems()).hasSize(1);
    assertThat(result.problems().getFirst())
        .contains("No ratios plot")
        .contains("apt-get install fontconfig fonts-dejavu-core");
  }

  @Test
  void reportIsWrittenWithItsFigures() throws IOException {
    Plots.Result result = MarkdownReport.write(directory.resolve("run"), SampleRun.typical());
    assertThat(result.files().getFirst()).hasFileName("report.md");
    assertThat(result.files()).allSatisfy(file -> assertThat(file).isNotEmptyFile());
  }

  private void writeTrend(TrendChart chart) throws IOException {
    Plots.Result result = Plots.write(directory, chart);
    Assumptions.assumeTrue(result.problems().isEmpty(), () -> String.join(" ", result.problems()));
    assertThat(result.files()).hasSize(2);
  }

  private void write(ReportInput run) throws IOException {
    Plots.Result result = Plots.write(directory, run);
    Assumptions.assumeTrue(result.problems().isEmpty(), () -> String.join(" ", result.problems()));
  }

  private List<String> texts(String file) throws Exception {
    NodeList texts = parse(directory.resolve(file)).getElementsByTagName("text");
    return IntStream.range(0, texts.getLength())
        .mapToObj(i -> texts.item(i).getTextContent())
        .toList();
  }

  private static Element parse(Path file) throws Exception {
    DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
    // The SVG names a DTD on the network.
    factory.setFeature("http://apache.org/xml/features/nonvalidating/load-external-dtd", false);
    Document document = factory.newDocumentBuilder().parse(file.toFile());
    return document.getDocumentElement();
  }

  private static Plots.Drawing fail(Throwable thrown) {
    switch (thrown) {
      case Error error -> throw error;
      case RuntimeException exception -> throw exception;
      default -> throw new UncheckedIOException(new IOException(thrown));
    }
  }
}
