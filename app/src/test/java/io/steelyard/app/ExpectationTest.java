package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.lab.record.Json;
import io.steelyard.lab.study.Study;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ExpectationTest {
  @TempDir private Path cache;

  @Test
  void saysWhatParityAndMeasuringTakeBeforeEither() throws IOException {
    assertThat(Expectation.of(RunDetailsTest.plan(), cache))
        .isEqualTo(
            "plan: parity about 50 s (kept for next time), then measuring 2 cells in up to 5 blocks,"
                + " at least 3, in about 3 min");
  }

  @Test
  void aSmallModelIsNotSaidToTakeAsLongAsTheDefault() throws IOException {
    String plan = Json.line(RunDetailsTest.plan());
    Study small = Json.read(plan.replaceFirst("\"bytes\":\\d+", "\"bytes\":600000"), Study.class);

    assertThat(Expectation.of(small, cache)).contains("parity about 20 s");
  }

  @Test
  void saysThatParityMayHaveBeenKept() throws IOException {
    Study study = RunDetailsTest.plan();
    Files.createDirectories(
        cache.resolve("oracle").resolve(study.model().sha256().substring(0, 16) + "-build-texts1"));

    assertThat(Expectation.of(study, cache))
        .contains("parity in seconds where nothing has changed since it was kept");
  }
}
