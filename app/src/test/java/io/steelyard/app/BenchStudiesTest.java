package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.app.CommandLineTest.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code bench forward}, {@code memory}, {@code load} and {@code fusion} on a tiny model. */
final class BenchStudiesTest {
  private static final Path MODEL =
      Path.of("../models/src/test/resources/io/steelyard/models/tiny/qwen2/qwen2.gguf");

  @TempDir private Path folder;

  private Outcome bench(String what, String... options) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "bench",
                what,
                "-m",
                MODEL.toString(),
                "--runs",
                folder.toString(),
                "-t",
                "2",
                "--prompt",
                "16",
                "--gen",
                "2",
                "--forks",
                "1",
                "--trials",
                "1"));
    arguments.addAll(List.of(options));
    return CommandLineTest.run("", arguments.toArray(String[]::new));
  }

  private JsonNode rows() throws IOException {
    try (Stream<Path> runs = Files.list(folder)) {
      Path run = runs.findFirst().orElseThrow();
      assertThat(run.resolve("report.md")).exists();
      return JsonMapper.builder().build().readTree(Files.readString(run.resolve("rows.json")));
    }
  }

  @Test
  void aGridOfForwardPassesIsOneStudy() throws IOException {
    Outcome outcome = bench("forward", "--batch", "2,1", "--length", "8");

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.FINE);
    assertThat(outcome.out()).contains("fw1x8", "fw2x8", "Forward passes by batch and length");
    JsonNode rows = rows();
    assertThat(rows).hasSize(2);
    JsonNode two = rows.get(1);
    assertThat(two.get("batch").asInt()).isEqualTo(2);
    assertThat(two.get("samples_per_second").asDouble())
        .isEqualTo(two.get("tokens_per_second").asDouble() / 8);
    assertThat(two.get("peak_bytes").asDouble())
        .isGreaterThanOrEqualTo(two.get("activation_bytes").asDouble());
  }

  @Test
  void memoryIsPredictedAndMeasuredByPart() throws IOException {
    Outcome outcome = bench("memory");

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.FINE);
    List<String> parts = new ArrayList<>();
    for (JsonNode row : rows()) {
      parts.add(row.get("part").asString());
      if (row.get("part").asString().equals("weights")) {
        // Vectors are decoded, so they are held otherwise than in the file.
        assertThat(row.get("measured").asDouble())
            .isBetween(0.95 * row.get("predicted").asDouble(), row.get("predicted").asDouble());
      }
    }
    assertThat(parts)
        .contains(
            "weights", "KV cache", "activations", "heap", "not accounted for", "peak, counted");
  }

  @Test
  @Tag("soak")
  void loadsAreMeasuredWarmAndFromDisk() throws IOException {
    Outcome outcome = bench("load");

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.FINE);
    JsonNode rows = rows();
    assertThat(rows.get(0).get("cache").asString()).isEqualTo("warm");
    assertThat(rows.get(0).get("files").asInt()).isEqualTo(1);
    assertThat(rows.get(0).get("first_ms").asDouble()).isPositive();
    // Where the system keeps files cached it says so instead.
    if (rows.size() == 1) {
      assertThat(outcome.err()).contains("loads from disk aren't measured");
    } else {
      assertThat(rows.get(1).get("cache").asString()).isEqualTo("disk");
    }
  }

  @Test
  @Tag("soak")
  void fusionIsCounted() throws IOException {
    Outcome outcome = bench("fusion");

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.FINE);
    assertThat(outcome.out()).contains("Operators of one call, counted", "unfused");
    // Two tokens by three layers and the logits.
    assertThat(calls("tg2", "fused", "matmul")).isEqualTo(2 * (3 * 4 + 1));
    assertThat(calls("tg2", "unfused", "matmul")).isEqualTo(2 * (3 * 7 + 1));
    assertThat(calls("tg2", "fused", "siluGate")).isEqualTo(2 * 3);
    assertThat(calls("tg2", "unfused", "multiply")).isEqualTo(2 * 3);
  }

  private long calls(String workload, String label, String operator) throws IOException {
    for (JsonNode row : rows()) {
      if (row.get("workload").asString().equals(workload)
          && row.get("label").asString().equals(label)
          && row.get("operator").asString().equals(operator)) {
        return row.get("calls").asLong();
      }
    }
    return 0;
  }

  static Stream<Arguments> nonsense() {
    return Stream.of(
        Arguments.of("forward", List.of("--batch", "0"), "--batch 0 is out of range"),
        Arguments.of("forward", List.of("--batch", "2,2"), "names a size twice"),
        Arguments.of("decode", List.of("--length", "8"), "are for bench forward, not decode"),
        Arguments.of(
            "decode",
            List.of("--interpret", "-e", "null"),
            "--interpret is for the engine steelyard"),
        Arguments.of("fusion", List.of("-e", "null"), "the engine steelyard against itself"),
        Arguments.of(
            "fusion", List.of("-e", "steelyard:fused=off"), "sets fused=on and fused=off"));
  }

  @ParameterizedTest
  @MethodSource("nonsense")
  void wrongUsageSaysWhatIsWrong(String what, List<String> options, String said) {
    Outcome outcome = bench(what, options.toArray(String[]::new));

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.err()).contains(said).doesNotContain("\tat ");
  }

  @Test
  @Tag("soak")
  void whatIsInterpretedIsMarkedInEveryRow() {
    Outcome outcome =
        bench("prefill", "--interpret", "-e", "steelyard:label=mine,tier=reference", "-o", "csv");

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.FINE);
    assertThat(outcome.out().lines().skip(1))
        .isNotEmpty()
        .allMatch(row -> row.contains("interpreted"));
  }
}
