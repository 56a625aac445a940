package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.app.CommandLineTest.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code bench diffuse} on a tiny model. */
final class DiffuseBenchTest {
  private static final Path TINY = Path.of("../models/src/test/resources/io/steelyard/models/tiny");

  @TempDir private Path folder;

  private Outcome bench(String model, String... options) {
    List<String> common =
        List.of("bench", "diffuse", "-m", model, "--runs", folder.toString(), "-t", "2");
    return CommandLineTest.run(
        "", Stream.concat(common.stream(), Stream.of(options)).toArray(String[]::new));
  }

  @Test
  void waysAreHeldAgainstTheUncachedOne() throws IOException {
    Outcome outcome =
        bench(
            TINY.resolve("dream/dream.gguf").toString(),
            "--gen",
            "8",
            "--steps",
            "4",
            "--block",
            "4",
            "--cache",
            "dual",
            "--threshold",
            "none",
            "--forks",
            "1",
            "--trials",
            "1",
            "--json");

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.FINE);
    JsonNode rows = JsonMapper.builder().build().readTree(outcome.out()).get("rows");
    assertThat(rows).hasSize(2);
    JsonNode none = rows.get(0);
    JsonNode dual = rows.get(1);
    assertThat(none.get("label").asString()).isEqualTo("none");
    assertThat(none.get("steps").asDouble()).isEqualTo(4);
    assertThat(none.get("tokens_per_forward").asDouble()).isEqualTo(2);
    assertThat(none.get("agreed").asDouble()).isEqualTo(1);
    assertThat(dual.get("options").get("cache").asString()).isEqualTo("dual");
    assertThat(dual.get("ms_per_step").asDouble()).isPositive();
    try (Stream<Path> runs = Files.list(folder)) {
      Path report = runs.findFirst().orElseThrow().resolve("report.md");
      assertThat(Files.readString(report)).contains("## Filling in masks");
    }
  }

  static Stream<Arguments> nonsense() {
    return Stream.of(
        Arguments.of(List.of("--threshold", "2"), "--threshold 2 must be a number from 0 to 1"),
        Arguments.of(List.of("--algorithm", "entropy"), "take maskgit_plus or topk_margin"),
        Arguments.of(List.of("--block", "0"), "--block 0 is out of range"),
        Arguments.of(List.of("-e", "llamacpp"), "llamacpp doesn't fill in masks"),
        Arguments.of(List.of("-e", "steelyard", "-e", "null"), "ways of one engine, not 2"));
  }

  @ParameterizedTest
  @MethodSource("nonsense")
  void wrongUsageSaysWhatIsWrong(List<String> options, String said) {
    Outcome outcome =
        bench(TINY.resolve("dream/dream.gguf").toString(), options.toArray(String[]::new));

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.err()).contains(said).doesNotContain("\tat ");
  }

  @Test
  void aModelThatGeneratesTokenByTokenIsRefused() {
    Outcome outcome = bench(TINY.resolve("qwen2/qwen2.gguf").toString());

    assertThat(outcome.code()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.err()).contains("generates token by token (qwen2)", "synth:dream-s");
  }
}
