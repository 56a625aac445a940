package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.lab.record.Summary;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/**
 * An engine that is slower by a known share is found to be: real runs on the default model. On a
 * machine too noisy for that the verdict is {@code inconclusive}, and this fails.
 */
@Tag("soak")
final class PlantedSlowdownTest {
  @TempDir private Path folder;

  @RepeatedTest(10)
  void fivePerCentAreFoundInThreeMinutes(RepetitionInfo repetition) throws Exception {
    assertThat(found("0.05", "3m", repetition)).isEqualTo("slower");
  }

  @RepeatedTest(10)
  void tenPerCentAreFoundInAMinute(RepetitionInfo repetition) throws Exception {
    assertThat(found("0.1", "1m", repetition)).isEqualTo("slower");
  }

  private String found(String slowdown, String budget, RepetitionInfo repetition) throws Exception {
    List<Summary.Comparison> comparisons =
        RealRun.compare(
            folder,
            "-e",
            "steelyard",
            "-e",
            "steelyard:slowdown=%s,label=slowed".formatted(slowdown),
            "--metrics",
            "prefill",
            "--budget",
            budget);
    Summary.Comparison only = comparisons.getFirst();
    System.out.printf(
        "%d: slowed by %s, %s: %.3f [%.3f, %.3f] %s after %d blocks%n",
        repetition.getCurrentRepetition(),
        slowdown,
        budget,
        only.ratio(),
        only.low(),
        only.high(),
        only.verdict(),
        only.blocks());
    return only.verdict();
  }
}
