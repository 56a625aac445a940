package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.lab.record.Blocks;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.run.Summariser;
import io.steelyard.lab.study.Study;
import io.steelyard.reports.BenchFormat;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** On the block of a real run that {@link RunDetailsTest} reads. */
final class BenchRowsTest {
  private static String render(BenchFormat format) throws IOException {
    Study study = RunDetailsTest.plan();
    var journal = RunDetailsTest.journal();
    Summary summary =
        new Summariser(study, Map.of(), List.of(), List.of(), journal).summarise("run");
    PrintStream out = System.out;
    ByteArrayOutputStream seen = new ByteArrayOutputStream();
    try {
      System.setOut(new PrintStream(seen, true, StandardCharsets.UTF_8));
      new BenchRows(study, summary, Blocks.of(journal), journal).print(new Console(), format);
    } finally {
      System.setOut(out);
    }
    return seen.toString(StandardCharsets.UTF_8);
  }

  @Test
  void loadColdStartAndMemoryAreRowsOfJsonToo() throws IOException {
    JsonNode rows = JsonMapper.builder().build().readTree(render(BenchFormat.JSON));

    assertThat(rows.valueStream().map(row -> row.get("test").asString()))
        .containsExactly("coldstart", "coldstart", "load", "load", "memory", "memory");
    assertThat(rows.get(2).get("avg").asDouble()).isEqualTo(111.759686);
    assertThat(rows.get(2).get("unit").asString()).isEqualTo("ms");
  }

  @Test
  void theTimeOfATestIsWhenItWasMeasured() throws IOException {
    JsonNode rows = JsonMapper.builder().build().readTree(render(BenchFormat.JSON));

    assertThat(rows.get(0).get("test_time").asString()).isEqualTo("2026-11-27T23:26:35Z");
  }

  @Test
  void theTableShowsEveryLabel() throws IOException {
    assertThat(render(BenchFormat.MD))
        .contains("| llamacpp  |")
        .contains("| steelyard |")
        .contains("299 ms");
  }
}
