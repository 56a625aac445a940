package io.steelyard.reports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class BenchFormatTest {

  private static final JsonMapper JSON = JsonMapper.builder().build();

  @ParameterizedTest
  @CsvSource({
    "512, 0, 0, pp512",
    "0, 64, 0, tg64",
    "512, 0, 4096, pp512@d4096",
    "512, 128, 0, pp512+tg128"
  })
  void testsAreNamedAsLlamaBenchNamesThem(int prompt, int generated, int depth, String name) {
    assertThat(row(prompt, generated, depth, List.of(1L)).test()).isEqualTo(name);
  }

  @Test
  void averageAndDeviationAreOverTrials() {
    BenchRow row = row(100, 0, 0, List.of(1_000_000_000L, 500_000_000L));
    JsonNode json = JSON.readTree(BenchFormat.JSON.render(List.of(row))).get(0);
    // 100 and 200 tok/s: mean 150, sample deviation 50·√2.
    assertThat(json.get("avg_ts").asDouble()).isCloseTo(150, within(1e-9));
    assertThat(json.get("stddev_ts").asDouble()).isCloseTo(70.710678, within(1e-6));
    assertThat(json.get("avg_ns").asLong()).isEqualTo(750_000_000L);
    assertThat(json.get("samples_ns")).hasSize(2);
    assertThat(json.get("samples_ts").get(1).asDouble()).isCloseTo(200, within(1e-9));
  }

  @Test
  void jsonLinesAreOneObjectEach() {
    List<String> lines = BenchFormat.JSONL.render(GoldenOutputTest.benchRows()).lines().toList();
    assertThat(lines).hasSize(3);
    assertThat(lines).allSatisfy(line -> assertThat(JSON.readTree(line).isObject()).isTrue());
  }

  @Test
  void noFieldThatReadersJoinOnIsNull() {
    JsonNode json =
        JSON.readTree(BenchFormat.JSON.render(List.of(row(1, 0, 0, List.of(1L))))).get(0);
    json.properties().stream()
        .filter(field -> !field.getKey().startsWith("avg_ts_"))
        .forEach(field -> assertThat(field.getValue().isNull()).as(field.getKey()).isFalse());
  }

  @Test
  void impossibleTestsAreRefused() {
    assertThatThrownBy(() -> row(0, 0, 0, List.of(1L)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("0 prompt and 0 generated");
    assertThatThrownBy(() -> row(1, 0, 0, List.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no sample");
    assertThatThrownBy(() -> row(1, 0, 0, List.of(0L)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static BenchRow row(int prompt, int generated, int depth, List<Long> samples) {
    return new BenchRow(
        "steelyard",
        "abc",
        "cpu",
        "CPU",
        "m.gguf",
        "llama",
        1,
        1,
        false,
        2,
        prompt,
        generated,
        depth,
        Instant.EPOCH,
        samples,
        Optional.empty(),
        Map.of());
  }
}
