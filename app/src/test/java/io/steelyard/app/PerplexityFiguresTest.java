package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.steelyard.app.CommandLineTest.Outcome;
import io.steelyard.lab.text.Texts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

/** The default model's perplexity on the same windows by other engines. */
@Tag("soak")
final class PerplexityFiguresTest {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  @TempDir private Path folder;

  private static double perplexity(String engine, String... options) {
    String model = System.getenv("STEELYARD_TEST_MODEL");
    assumeTrue(
        model != null && Files.exists(Path.of(model)),
        "needs the default model: set STEELYARD_TEST_MODEL to what './steelyard model pull' prints");
    List<String> arguments =
        new ArrayList<>(List.of("model", "perplexity", model, "--json", "--engine", engine));
    arguments.addAll(List.of(options));
    Outcome outcome = CommandLineTest.run("", arguments.toArray(String[]::new));
    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.FINE);
    double found = JSON.readTree(outcome.out()).get("perplexity").asDouble();
    System.out.printf("%s %s: %.5f%n", engine, List.of(options), found);
    return found;
  }

  /** Both round activations, each in its own way. */
  @Test
  void isThatOfLlamaCppsLogitsWithinHalfAPercent() {
    double other = perplexity("llamacpp");
    assertThat(perplexity("steelyard")).isCloseTo(other, within(0.005 * other));
  }

  /** With nothing rounded but float32 itself. */
  @Test
  void isTheOraclesInFloat() throws IOException {
    // The oracle computes about two tokens a second for each thread.
    Path text =
        Files.writeString(folder.resolve("text.txt"), Texts.perplexity().substring(0, 1300));
    String[] options = {"--text", text.toString(), "--context", "128", "--kv", "f32"};
    double oracle = perplexity("steelyard:tier=reference", options);
    assertThat(perplexity("steelyard:tier=vector", options))
        .isCloseTo(oracle, within(0.0005 * oracle));
  }
}
