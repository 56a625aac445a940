package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.lab.record.Blocks;
import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.study.Study;
import io.steelyard.reports.DetailTable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** On one block of a real run: steelyard, and llama.cpp hosted in a JVM. */
final class RunDetailsTest {
  static Study plan() throws IOException {
    return Json.read(text("plan.json"), Study.class);
  }

  static List<Entry> journal() throws IOException {
    return text("trials.jsonl").lines().map(line -> Json.read(line, Entry.class)).toList();
  }

  private static String text(String resource) throws IOException {
    try (InputStream in = RunDetailsTest.class.getResourceAsStream(resource)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static DetailTable table(String title) throws IOException {
    return RunDetails.of(plan(), Blocks.of(journal())).stream()
        .filter(table -> table.title().equals(title))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aColdStartIsShownByPartsWithWhatCountsAndAllOfIt() throws IOException {
    DetailTable table = table("Cold start, part by part");

    assertThat(table.headers()).containsExactly("ms", "steelyard", "llamacpp");
    assertThat(table.rows())
        .containsExactly(
            List.of("runtime", "194", "(319)"),
            List.of("library", "–", "40.4"),
            List.of("load", "112", "142"),
            List.of("context", "–", "20.0"),
            List.of("prefill", "1,416", "96.0"),
            List.of("around the calls", "50.0", "(89.5)"),
            List.of("counted", "1,772", "299"),
            List.of("all of it", "1,772", "707"));
    assertThat(table.explanation()).contains("In parentheses: not counted");
  }

  @Test
  void memoryIsShownByPartsWithAverageAndBothPeaks() throws IOException {
    assertThat(table("Memory, part by part").rows())
        .contains(
            List.of("runtime, before the load", "59.7", "(69.6)"),
            List.of("weights", "96.6", "96.6"),
            List.of("not accounted for", "34.9", "35.2"),
            List.of("peak, counted", "226", "158"),
            List.of("peak, all of it", "226", "228"),
            List.of("average, all of it", "224", "223"));
  }

  @Test
  void theGapBetweenTheClocksIsShownByCall() throws IOException {
    assertThat(table("The two clocks").rows())
        .containsExactly(
            List.of("load", "32 ms (22.5 %)", "49 ms (19.3 %)"),
            List.of("first token", "18 ms (1.2 %)", "41 ms (29.9 %)"));
  }

  @Test
  void whatTheRecordLacksIsLeftOut() throws IOException {
    assertThat(RunDetails.of(plan(), Blocks.of(List.of()))).isEmpty();
  }
}
