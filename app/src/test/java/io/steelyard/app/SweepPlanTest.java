package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

final class SweepPlanTest {
  @TempDir private Path folder;

  private SweepPlan plan(String yaml) throws IOException {
    return SweepPlan.read(Files.writeString(folder.resolve("sweep.yaml"), yaml));
  }

  @Test
  void whatIsAListIsGoneThrough() throws IOException {
    SweepPlan plan = plan("models: [a, 'b:Q8_0']\nprompt: [64, 512]\nthreads: 2\nforks: 3\n");

    assertThat(plan.points().stream().map(SweepPlan.Point::key))
        .containsExactly(
            "a-prompt64-threads2",
            "a-prompt512-threads2",
            "b-Q8_0-prompt64-threads2",
            "b-Q8_0-prompt512-threads2");
    assertThat(plan.arguments(plan.points().getLast(), Path.of("runs")))
        .containsSubsequence("--model", "b:Q8_0", "--prompt", "512", "--forks", "3");
  }

  @Test
  void everyPointsArgumentsAreThoseOfCompare() throws IOException {
    SweepPlan plan = plan("prompt: [64]\nquick: true\nbaseline: llamacpp\nmargin: 3%\n");

    for (SweepPlan.Point point : plan.points()) {
      String[] arguments = plan.arguments(point, Path.of("runs")).toArray(String[]::new);
      CommandLine compare =
          new CommandLine(new CompareCommand()).setCaseInsensitiveEnumValuesAllowed(true);
      assertThat(compare.parseArgs(arguments).unmatched()).isEmpty();
    }
  }

  @Test
  void theExampleIsOne() {
    assertThat(SweepPlan.read(Path.of("..", "docs", "examples", "sweep.yaml")).points()).hasSize(4);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'modells: [a]' | 'modells' is unknown; there are models",
        "'models: []' | 'models' is empty",
        "'models: [a, a]' | names something twice",
        "'models: {a: 1}' | 'models' needs a value",
        "'prompt: [[1]]' | 'prompt' needs a value",
        "'[1, 2]' | holds no keys",
        "'a: [' | is no YAML",
        "'' | holds no keys",
      },
      quoteCharacter = '"')
  void whatIsWrongIsNamed(String quoted, String said) {
    String yaml = quoted.substring(1, quoted.length() - 1);

    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> plan(yaml).points())
        .withMessageContaining(said);
  }

  @Test
  void aFileThatIsNotThereIsNamed() {
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(() -> SweepPlan.read(folder.resolve("no-such.yaml")))
        .withMessageContaining("no-such.yaml");
  }
}
