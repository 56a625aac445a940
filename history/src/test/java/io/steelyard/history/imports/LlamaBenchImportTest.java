package io.steelyard.history.imports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.history.HistoryException;
import io.steelyard.history.MeasuredCell;
import io.steelyard.history.RunRecord;
import io.steelyard.history.TimedValue;
import io.steelyard.lab.record.Summary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LlamaBenchImportTest {
  @TempDir private Path folder;

  private RunRecord read(String format) throws IOException {
    Sample sample =
        Sample.ALL.stream().filter(s -> s.format().equals(format)).findFirst().orElseThrow();
    return read(format, sample.file(), sample.text());
  }

  private RunRecord read(String format, String name, String text) throws IOException {
    List<RunRecord> runs = Importers.of(format).read(Files.writeString(folder.resolve(name), text));
    assertThat(runs).hasSize(1);
    return runs.getFirst();
  }

  private static List<Summary.Cell> figures(RunRecord run) {
    return run.cells().stream().map(MeasuredCell::figures).toList();
  }

  @Test
  void jsonHasTheTestsWithTheirSamples() throws IOException {
    RunRecord run = read("llama-bench-json");

    assertThat(run.name()).isEqualTo("bench");
    assertThat(run.source()).isEqualTo("llama-bench");
    assertThat(run.started()).isEqualTo(Instant.parse("2026-02-03T10:11:12Z"));
    assertThat(run.model()).isEqualTo(new RunRecord.Model("tiny-q8.gguf", "", "unknown"));
    assertThat(run.commit().id()).isEqualTo("1a2b3c4d");
    Summary.Cell prefill = figures(run).getFirst();
    assertThat(prefill.label()).isEqualTo("llamacpp:threads=4");
    assertThat(prefill.engine()).isEqualTo("llamacpp");
    assertThat(prefill.model()).isEqualTo("tiny-q8.gguf");
    assertThat(prefill.precision()).isEqualTo("Q8_0");
    assertThat(prefill.metric()).isEqualTo("pp512");
    assertThat(prefill.unit()).isEqualTo("tok/s");
    assertThat(prefill.better()).isEqualTo("higher");
    assertThat(prefill.mean()).isEqualTo(128.25);
    assertThat(prefill.sd()).isEqualTo(3.2);
    assertThat(prefill.median()).isEqualTo(128.0);
    assertThat(prefill.low()).as("one process allows no interval").isNull();
    assertThat(prefill.forks()).isEqualTo(1);
    assertThat(prefill.trials()).isEqualTo(3);
    assertThat(run.cells().getFirst().values())
        .extracting(TimedValue::value)
        .containsExactly(131.5, 128.0, 125.25);
    assertThat(figures(run).getLast().metric()).isEqualTo("tg64@d1024");
    assertThat(run.environment()).containsKey("tests").doesNotContainKey("hardware");
  }

  @Test
  void aPromptFollowedByAGenerationIsATestOfItsOwn() throws IOException {
    assertThat(figures(read("llama-bench-jsonl")))
        .extracting(Summary.Cell::metric)
        .containsExactly("pp512", "pp512+tg64");
  }

  @Test
  void csvAndSqlHaveTheSameFiguresWithoutSamples() throws IOException {
    for (String format : List.of("llama-bench-csv", "llama-bench-sql")) {
      RunRecord run = read(format);

      assertThat(figures(run)).extracting(Summary.Cell::metric).containsExactly("pp512", "tg128");
      assertThat(figures(run)).extracting(Summary.Cell::mean).containsExactly(128.25, 32.0);
      assertThat(run.cells()).allSatisfy(cell -> assertThat(cell.values()).isEmpty());
      assertThat(figures(run)).extracting(Summary.Cell::trials).containsOnly(0);
    }
    assertThat(figures(read("llama-bench-sql")).getFirst().model()).isEqualTo("it's.gguf");
    assertThat(figures(read("llama-bench-csv")).getFirst().precision()).isEqualTo("Q4_K - Medium");
    assertThat(figures(read("llama-bench-csv")).getFirst().label())
        .isEqualTo("llamacpp:backends=CUDA,threads=8");
  }

  @Test
  void theTableHasModelsTestsAndTheBuild() throws IOException {
    RunRecord run = read("llama-bench-md");

    assertThat(run.commit().id()).isEqualTo("1a2b3c4d");
    assertThat(figures(run))
        .extracting(Summary.Cell::metric)
        .containsExactly("pp512", "tg128@d1024");
    assertThat(figures(run)).extracting(Summary.Cell::model).containsOnly("llama 1B Q8_0");
    assertThat(figures(run)).extracting(Summary.Cell::label).containsOnly("llamacpp:threads=4");
    assertThat(figures(run).getLast().sd()).isEqualTo(0.5);
  }

  @Test
  void whatSteelyardWritesWithTheseNamesIsReadWithWhatItAdds() throws IOException {
    RunRecord speeds =
        read(
            "llama-bench-json",
            "own.json",
            """
            [{"build_commit": "ff", "model_filename": "m.gguf", "n_batch": 0, "type_k": "",
              "n_prompt": 512, "n_gen": 0, "avg_ts": 100.0, "label": "steelyard:tier=vector",
              "test": "pp512", "weights": "random", "avg_ts_low": null, "avg_ts_high": null}]
            """);
    RunRecord starts =
        read(
            "llama-bench-json",
            "start.json",
            """
            [{"build_commit": "ff", "model_filename": "m.gguf", "label": "steelyard",
              "test": "coldstart", "weights": "real", "unit": "ms", "better": "lower",
              "avg": 230.5, "stddev": 1.5, "avg_low": 229.0, "avg_high": 232.0,
              "samples": [230.0, 231.0]}]
            """);

    assertThat(figures(speeds).getFirst().label()).isEqualTo("steelyard:tier=vector");
    assertThat(figures(speeds).getFirst().engine()).isEqualTo("steelyard");
    assertThat(speeds.model().weights()).isEqualTo("random");
    assertThat(figures(starts).getFirst().metric()).isEqualTo("coldstart");
    assertThat(figures(starts).getFirst().unit()).isEqualTo("ms");
    assertThat(figures(starts).getFirst().better()).isEqualTo("lower");
    assertThat(starts.cells().getFirst().values()).hasSize(2);
  }

  @Test
  void twoTestsThatDifferInWhatTheLabelLeavesOutStayTwo() throws IOException {
    String row =
        "{\"model_filename\": \"m.gguf\", \"n_prompt\": 8, \"n_gen\": 0, \"avg_ts\": 1.0, \"poll\": %d}%n";

    RunRecord run = read("llama-bench-jsonl", "two.jsonl", row.formatted(0) + row.formatted(50));

    assertThat(figures(run))
        .extracting(Summary.Cell::label)
        .containsExactly("llamacpp", "llamacpp (2)");
  }

  @Test
  void aRefusalNamesThePlace() {
    assertRefused("llama-bench-json", "[{\"n_prompt\": 8, \"n_gen\": 0}]", "[0]", "'avg_ts'");
    assertRefused(
        "llama-bench-json",
        "[{\"n_prompt\": 8, \"avg_ts\": 1, \"samples_ts\": [1, -2]}]",
        "[0].samples_ts[1]",
        "negative");
    assertRefused(
        "llama-bench-json",
        "[{\"n_prompt\": 8, \"avg_ts\": 1, \"samples_ns\": [\"1\"]}]",
        "samples_ns[0]",
        "no number");
    assertRefused(
        "llama-bench-jsonl",
        "{\"n_prompt\": 8, \"avg_ts\": 1}\n{\"n_prompt\": 0, \"avg_ts\": 1}\n",
        "value 2",
        "measures nothing");
    assertRefused("llama-bench-jsonl", "{\"n_prompt\": 8, \"avg_ts\": 1}\n{\"n_pro", "line 2");
    assertRefused("llama-bench-csv", "n_prompt,avg_ts\n8,1\n8,1,2\n", "row 2", "it has 3 columns");
    assertRefused("llama-bench-csv", "n_prompt,avg_ts\n8,\"1\n", "no whole CSV");
    assertRefused("llama-bench-csv", "n_prompt,n_prompt,avg_ts\n8,8,1\n", "no whole CSV");
    assertRefused("llama-bench-csv", "n_prompt,avg_ts\n8,0x10\n", "row 1, avg_ts", "no number");
    assertRefused("llama-bench-csv", "n_prompt,avg_ts\n8.5,1\n", "n_prompt", "no count");
    assertRefused(
        "llama-bench-sql", "CREATE TABLE t (a TEXT);\nDROP TABLE t;\n", "line 2", "INSERT");
    assertRefused(
        "llama-bench-sql", "INSERT INTO t (a, b) VALUES ('1');", "line 1", "2 names, but 1");
    assertRefused("llama-bench-sql", "INSERT INTO t (a, a) VALUES ('1', '2');", "twice");
    assertRefused("llama-bench-sql", "INSERT INTO t (a) VALUES ('1", "ends within");
    assertRefused("llama-bench-md", "| a | b |\n| - | - |\n", "line 1", "model, test and t/s");
    assertRefused(
        "llama-bench-md",
        "| model | test | t/s |\n| --- | --- | --- |\n| m | pp512 | 1.0 ± 0.1",
        "line 3",
        "cut off");
    assertRefused(
        "llama-bench-md", "| model | test | t/s |\n| m | pp512 |\n", "line 2", "2 columns");
    assertRefused(
        "llama-bench-md", "| model | test | t/s |\n| m | other | 1.0 |\n", "line 2", "'other'");
  }

  private void assertRefused(String format, String text, String... parts) {
    assertThatThrownBy(
            () -> Importers.of(format).read(Files.writeString(folder.resolve("bad"), text)))
        .as(text)
        .isInstanceOfSatisfying(
            HistoryException.class,
            e ->
                assertThat(e.getMessage())
                    .contains(folder.resolve("bad").toString())
                    .contains(parts));
  }
}
