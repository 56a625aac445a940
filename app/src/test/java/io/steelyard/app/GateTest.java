package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.steelyard.lab.record.Perplexity;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.study.Study;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class GateTest {
  @TempDir private Path folder;

  private Gate read(String text) throws IOException {
    return Gate.read(Files.writeString(folder.resolve("gate.yaml"), text), 0.02);
  }

  @Test
  void theExampleIsRead() {
    Gate gate = Gate.read(Path.of("..", "docs", "examples", "gate.yaml"), 0.02);

    assertThat(gate.margins())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of("prefill", 0.03, "decode", 0.02, "coldstart", 0.1));
    assertThat(gate.mayBeUndecided()).containsExactly("coldstart");
    assertThat(gate.quality())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of("mean-kl", 0.01, "perplexity-ratio", 1.01, "top-1", 0.95));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      textBlock =
          """
          metrics: {speed: {margin: 2%}}            | 'speed' is unknown in 'metrics'; there are prefill
          metrics: {decode: {slack: 2%}}            | 'slack' is unknown in 'decode'; there are margin, undecided
          metrics: {decode: 3}                      | 'decode' needs a rule such as {margin: 2%}
          metrics: {decode: {margin: -1}}           | 'margin' of 'decode': '-1' is no share
          metrics: {decode: {undecided: maybe}}     | 'undecided' of 'decode' is 'maybe': it takes pass or fail
          metrics: [decode]                         | 'metrics' needs keys: prefill
          quality: {mean-kl: low}                   | 'mean-kl' needs a number above 0
          quality: {mean-kl: 0}                     | 'mean-kl' needs a number above 0
          quality: {loss: 1}                        | 'loss' is unknown in 'quality'; there are mean-kl
          gates: 1                                  | 'gates' is unknown; there are metrics, quality
          quality: {}                               | bounds nothing
          just words                                | holds no keys such as
          """)
  void whatIsWrongWithAFileIsSaid(String text, String message) {
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> read(text))
        .withMessageContaining("gate.yaml")
        .withMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource({"margin: -1, 'gate.yaml:4: '", "slack: 1, 'gate.yaml:4: '", "undecided: no, :4: "})
  void theLineIsNamedThatIsWrong(String wrong, String where) {
    String text = "metrics:\n  decode: {margin: 2%}\n  prefill:\n    " + wrong + "\n";

    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> read(text))
        .withMessageContaining(where);
  }

  @Test
  void aMetricThatIsNotMeasuredCannotBeHeld() throws IOException {
    Gate gate = read("metrics: {decode: {margin: 5%}}");
    Study starts = RunDetailsTest.plan();

    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> gate.over(starts))
        .withMessage("the gate bounds decode, which isn't measured: add it to --metrics");
  }

  @Test
  void brokenBoundsOfQualityAreToldOfEveryLabelButTheBaseline() throws IOException {
    Gate gate = read("quality: {mean-kl: 0.01, perplexity-ratio: 1.01, top-1: 0.9}");
    Summary summary =
        new Summary(
            "",
            "",
            "",
            "",
            List.of(),
            List.of(),
            List.of(parity("base", 0.5, 2, 0.1), parity("head", 0.02, 1.001, 0.85)),
            List.of());

    assertThat(gate.broken(summary, "base"))
        .containsExactlyInAnyOrder(
            "mean-kl of head is 0.02000, over 0.01000", "top-1 of head is 0.8500, under 0.9000");
  }

  private static Summary.Parity parity(String label, double kl, double perplexity, double top1) {
    return new Summary.Parity(
        label,
        "",
        "",
        true,
        kl,
        kl,
        top1,
        0.0,
        Optional.of(new Perplexity(10, perplexity, 0)),
        kl,
        true,
        "");
  }
}
