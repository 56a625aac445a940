package io.steelyard.reports;

import io.steelyard.reports.terminal.Style;
import io.steelyard.stats.Interval;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every format looks as it was last looked at; see {@link Golden} for how to change one. */
class GoldenOutputTest {

  private static final Style EIGHTY = new Style(80, false, true);

  @Test
  void typicalComparisonReadsWellInEightyColumns() {
    Golden.assertSame(
        "comparison-80.txt", ComparisonTable.render(SampleRun.typical().summary(), EIGHTY));
  }

  @Test
  void sharesOfTheRooflineFitIntoEightyColumns() {
    Golden.assertSame(
        "comparison-shares-80.txt",
        ComparisonTable.render(SampleRun.withShares().summary(), EIGHTY));
  }

  @Test
  void comparisonInColour() {
    Golden.assertSame(
        "comparison-colour.txt",
        ComparisonTable.render(SampleRun.typical().summary(), new Style(80, true, true)));
  }

  @Test
  void comparisonInAscii() {
    Golden.assertSame(
        "comparison-ascii.txt",
        ComparisonTable.render(SampleRun.awkward().summary(), new Style(80, false, false)));
  }

  @ParameterizedTest
  @ValueSource(ints = {60, 80, 120})
  void awkwardComparison(int width) {
    Golden.assertSame(
        "comparison-awkward-" + width + ".txt",
        ComparisonTable.render(SampleRun.awkward().summary(), new Style(width, false, true)));
  }

  @Test
  void randomWeightsAreSaidInEveryTable() {
    Golden.assertSame(
        "random-weights.txt",
        ComparisonTable.render(SampleRun.withRandomWeights(), EIGHTY)
            + "\n"
            + ParityTable.render(SampleRun.withRandomWeights(), EIGHTY)
            + "\n"
            + FairnessTable.render(SampleRun.withRandomWeights(), EIGHTY));
  }

  @Test
  void parity() {
    Golden.assertSame("parity-80.txt", ParityTable.render(SampleRun.typical().summary(), EIGHTY));
  }

  @ParameterizedTest
  @ValueSource(ints = {60, 80})
  void fairnessSideBySideWhereItFitsElseByValue(int width) {
    Golden.assertSame(
        "fairness-" + width + ".txt",
        FairnessTable.render(SampleRun.typical().summary(), new Style(width, false, true)));
  }

  @Test
  void reportPage() {
    Plots.Result plots =
        new Plots.Result(List.of(Path.of("ratios.svg"), Path.of("samples.svg")), List.of());
    Golden.assertSame("report.md", MarkdownReport.render(SampleRun.typical(), plots));
  }

  @Test
  void reportPageWithSharesOfTheRoofline() {
    Plots.Result plots = new Plots.Result(List.of(), List.of());
    Golden.assertSame("report-shares.md", MarkdownReport.render(SampleRun.withShares(), plots));
  }

  @Test
  void reportPageWithRandomWeightsAndWithoutFonts() {
    ReportInput run = SampleRun.typical();
    ReportInput random = SampleRun.input(SampleRun.withRandomWeights(), run.series());
    Plots.Result plots = new Plots.Result(List.of(), List.of("No ratios plot: no fonts."));
    Golden.assertSame("report-random.md", MarkdownReport.render(random, plots));
  }

  @ParameterizedTest
  @EnumSource(BenchFormat.class)
  void bench(BenchFormat format) {
    Golden.assertSame(
        "bench." + format.name().toLowerCase(Locale.ROOT), format.render(benchRows()));
  }

  @Test
  void benchOfOneEngineHasNoEngineColumn() {
    Golden.assertSame(
        "bench-one.md", BenchFormat.MD.render(benchRows().stream().limit(1).toList()));
  }

  static List<BenchRow> benchRows() {
    return List.of(
        benchRow("llamacpp", 512, 0, 0, 505_100_000L, false),
        benchRow("llamacpp", 0, 64, 4096, 1_931_000_000L, false),
        benchRow("steelyard:label=\"new\"", 512, 0, 0, 1_461_700_000L, true));
  }

  private static BenchRow benchRow(
      String label, int prompt, int generated, int depth, long nanos, boolean random) {
    double tokens = (double) prompt + generated;
    double rate = 1e9 * tokens / nanos;
    return new BenchRow(
        label,
        "8cf427ff",
        "Example CPU @ 2.0 GHz",
        "CPU",
        "models/SmolLM2-135M-Instruct.Q4_1.gguf",
        "llama 135M Q4_1",
        98_362_432L,
        134_515_008L,
        random,
        2,
        prompt,
        generated,
        depth,
        (prompt > 0 ? "pp" + prompt : "tg" + generated) + (depth > 0 ? "@d" + depth : ""),
        Instant.parse("2026-02-03T10:11:12.345Z"),
        List.of(nanos, nanos + 3_000_000, nanos - 2_000_000),
        random ? Optional.empty() : Optional.of(new Interval(rate, 0.99 * rate, 1.01 * rate, 0.95)),
        generated > 0 ? Optional.of(0.7) : Optional.empty(),
        Map.of("type_k", "f16", "type_v", "f16", "flash_attn", 1));
  }
}
