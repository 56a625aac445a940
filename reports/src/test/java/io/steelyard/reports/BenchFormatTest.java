package io.steelyard.reports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.steelyard.lab.record.Summary;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class BenchFormatTest {

  private static final JsonMapper JSON = JsonMapper.builder().build();

  @Test
  void aBatchedForwardPassHasItsOwnName() {
    BenchRow row = row(512, 0, 0, List.of(1L));
    BenchRow forward = named(row, "fw4x128");

    for (BenchFormat format : BenchFormat.values()) {
      assertThat(format.render(List.of(forward))).contains("fw4x128").doesNotContain("pp512");
    }
  }

  @Test
  void figuresThatAreNoThroughputComeInEveryFormat() {
    BenchFigure figure = figure(SampleRun.cell("a", "load", "ms", "lower", 212, 14, "steady", 0));

    JsonNode json = JSON.readTree(BenchFormat.JSON.renderFigures(List.of(figure))).get(0);
    assertThat(json.get("test").asString()).isEqualTo("load");
    assertThat(json.get("unit").asString()).isEqualTo("ms");
    assertThat(json.get("avg").asDouble()).isEqualTo(212);
    assertThat(json.get("avg_low").asDouble()).isEqualTo(198);
    assertThat(json.get("samples")).hasSize(3);
    assertThat(JSON.readTree(BenchFormat.JSONL.renderFigures(List.of(figure)).strip()))
        .isEqualTo(json);
    assertThat(BenchFormat.MD.renderFigures(List.of(figure)))
        .contains("| load | 212 ± 14 ms |     5 |")
        .contains("build: abc");
    List<String> csv = BenchFormat.CSV.renderFigures(List.of(figure)).lines().toList();
    assertThat(csv).hasSize(2);
    assertThat(csv.getFirst().split(",")).hasSameSizeAs(csv.getLast().split("\",\""));
    assertThat(BenchFormat.JSON.renderFigures(List.of()).strip()).isEqualTo("[ ]");
  }

  private static BenchFigure figure(Summary.Cell cell) {
    return new BenchFigure(
        cell,
        "abc",
        "cpu",
        "m.gguf",
        "m",
        1,
        1,
        false,
        2,
        Instant.EPOCH,
        List.of(200.0, 212.0, 224.0));
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

  private static BenchRow named(BenchRow row, String test) {
    return new BenchRow(
        row.label(),
        row.buildCommit(),
        row.cpuInfo(),
        row.backend(),
        row.modelFilename(),
        row.modelType(),
        row.modelSize(),
        row.modelParameters(),
        row.randomWeights(),
        row.threads(),
        row.promptTokens(),
        row.generatedTokens(),
        row.depth(),
        test,
        row.testTime(),
        row.samplesNanos(),
        row.throughput(),
        row.roofline(),
        row.settings());
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
        prompt > 0 ? "pp" + prompt : "tg" + generated,
        Instant.EPOCH,
        samples,
        Optional.empty(),
        Optional.empty(),
        Map.of());
  }
}
