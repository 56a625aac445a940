package io.steelyard.history.imports;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

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
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OtherToolsImportTest {
  /** Sums of a few doubles. */
  private static final double ROUNDING = 1e-12;

  @TempDir private Path folder;

  private RunRecord read(String format) throws IOException {
    Sample sample =
        Sample.ALL.stream().filter(s -> s.format().equals(format)).findFirst().orElseThrow();
    List<RunRecord> runs =
        sample.importer().read(Files.writeString(folder.resolve(sample.file()), sample.text()));
    assertThat(runs).hasSize(1);
    return runs.getFirst();
  }

  private static MeasuredCell cell(RunRecord run, String label, String metric) {
    return run.cells().stream()
        .filter(cell -> cell.figures().label().equals(label))
        .filter(cell -> cell.figures().metric().equals(metric))
        .findFirst()
        .orElseThrow(() -> new AssertionError(label + " " + metric + " of " + run.cells()));
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

  @Test
  void jmhHasIterationsByForkAndAnIntervalOverForks() throws IOException {
    RunRecord run = read("jmh");

    MeasuredCell time = cell(run, "org.example.Copy.bytes:size=1024", "avgt");
    assertThat(time.figures().unit()).isEqualTo("ns/op");
    assertThat(time.figures().better()).isEqualTo("lower");
    assertThat(time.figures().mean()).isEqualTo(12.25);
    assertThat(time.figures().forks()).isEqualTo(2);
    assertThat(time.figures().trials()).isEqualTo(4);
    assertThat(time.figures().low()).isLessThanOrEqualTo(12.25);
    assertThat(time.values()).extracting(TimedValue::fork).containsExactly(1, 1, 2, 2);
    MeasuredCell rate = cell(run, "org.example.Copy.bytes:size=2048,threads=4", "thrpt");
    assertThat(rate.figures().better()).isEqualTo("higher");
    assertThat(rate.figures().low()).as("one process allows no interval").isNull();
    Summary.Cell allocation =
        cell(run, "org.example.Copy.bytes:size=1024", "gc.alloc.rate").figures();
    assertThat(allocation.better()).isEqualTo("unknown");
    assertThat(allocation.mean()).isEqualTo(3.5);
  }

  @Test
  void jmhHistogramsAreReadAsTheMeansOfTheirIterations() throws IOException {
    Path file =
        Files.writeString(
            folder.resolve("sample.json"),
            """
            [{"benchmark": "a.B.c", "mode": "sample", "primaryMetric": {"score": 2.0,
              "scoreUnit": "us/op", "rawDataHistogram": [[[[1.0, 3], [5.0, 1]], [[2.0, 2]]]]}}]
            """);

    RunRecord run = Importers.of("jmh").read(file).getFirst();

    assertThat(cell(run, "a.B.c", "sample").values())
        .extracting(TimedValue::value)
        .containsExactly(2.0, 2.0);
    assertThat(run.started()).isEqualTo(Files.getLastModifiedTime(file).toInstant());
  }

  @Test
  void jmhIsRefusedByPlace() {
    assertRefused("jmh", "[{\"benchmark\": \"b\", \"mode\": \"avgt\"}]", "[0]", "primaryMetric");
    assertRefused(
        "jmh",
        "[{\"benchmark\": \"b\", \"mode\": \"avgt\", \"primaryMetric\": {\"score\": \"NaN\","
            + " \"scoreUnit\": \"s/op\"}}]",
        "[0].primaryMetric.score",
        "no number");
    assertRefused(
        "jmh",
        "[{\"benchmark\": \"b\", \"mode\": \"avgt\", \"primaryMetric\": {\"score\": 1,"
            + " \"scoreUnit\": \"s/op\", \"rawData\": [[1, -1]]}}]",
        "rawData[0][1]",
        "negative");
    assertRefused("jmh", "[]", "nothing was measured");
  }

  @Test
  void aRunOfHyperfineIsAProcess() throws IOException {
    RunRecord run = read("hyperfine");

    Summary.Cell time = cell(run, "sleep 0.1", "time").figures();
    assertThat(time.mean()).isEqualTo(0.1025);
    assertThat(time.forks()).isEqualTo(3);
    assertThat(time.low()).isLessThan(0.1025);
    assertThat(time.high()).isGreaterThan(0.1025);
    assertThat(cell(run, "sleep 0.1", "user").figures().mean()).isEqualTo(0.001);
    assertThat(cell(run, "sleep 0.1", "memory").figures().mean()).isCloseTo(2.1, within(ROUNDING));
    assertThat(cell(run, "false", "time").figures().state()).isEqualTo("failed");
    assertRefused("hyperfine", "{\"results\": []}", "results", "nothing was measured");
    assertRefused(
        "hyperfine",
        "{\"results\": [{\"command\": \"x\", \"mean\": 1, \"times\": [1, null]}]}",
        "results[0].times[1]",
        "no number");
  }

  @Test
  void pytestBenchmarkNamesItsMachineAndCommit() throws IOException {
    RunRecord run = read("pytest-benchmark");

    Summary.Cell time = cell(run, "tests/test_speed.py::test_encode", "time").figures();
    assertThat(time.mean()).isEqualTo(0.00215);
    assertThat(time.trials()).isEqualTo(3);
    assertThat(time.forks()).isEqualTo(1);
    assertThat(run.started()).isEqualTo(Instant.parse("2026-02-03T10:11:12.345678Z"));
    assertThat(run.commit()).isEqualTo(new RunRecord.Commit("89abcdef", Optional.of(true)));
    assertThat(run.environment().get("hardware"))
        .isEqualTo(
            Map.of(
                "processor",
                "Example CPU",
                "cores",
                "8",
                "host",
                "builder",
                "architecture",
                "x86_64"));
    assertRefused(
        "pytest-benchmark",
        "{\"benchmarks\": [{\"name\": \"n\", \"stats\": {}}]}",
        "benchmarks[0].stats",
        "mean");
    assertRefused(
        "pytest-benchmark",
        "{\"datetime\": \"today\", \"benchmarks\": [{\"name\": \"n\", \"stats\": {\"mean\": 1}}]}",
        "datetime",
        "'today' is no time");
  }

  @Test
  void googleBenchmarkHasRepetitionsOrAggregates() throws IOException {
    RunRecord run = read("google-benchmark");

    Summary.Cell time = cell(run, "BM_Sum/1024", "real_time").figures();
    assertThat(time.mean()).as("of the repetitions").isEqualTo(513.125);
    assertThat(time.trials()).isEqualTo(2);
    assertThat(time.unit()).isEqualTo("ns");
    assertThat(cell(run, "BM_Sum/1024", "items_per_second").figures().better()).isEqualTo("higher");
    assertThat(cell(run, "BM_Sum/1024", "temperature").figures().mean()).isEqualTo(-4.25);
    Summary.Cell aggregate = cell(run, "BM_Sort", "real_time").figures();
    assertThat(aggregate.mean()).isEqualTo(7.5);
    assertThat(aggregate.sd()).isEqualTo(0.5);
    assertThat(aggregate.unit()).isEqualTo("ms");
    assertThat(cell(run, "BM_Bad", "real_time").figures().state()).isEqualTo("failed");
    assertThat(run.started()).isEqualTo(Instant.parse("2026-02-03T09:11:12Z"));
    assertThat(run.command()).isEqualTo("./bench");
    assertThat(run.environment()).containsKey("hardware");
    assertRefused(
        "google-benchmark",
        "{\"benchmarks\": [{\"name\": \"b\", \"real_time\": 1, \"time_unit\": \"weeks\"}]}",
        "benchmarks[0]",
        "weeks");
    assertRefused(
        "google-benchmark",
        "{\"benchmarks\": [{\"name\": \"b\", \"real_time\": 1, \"time_unit\": \"ns\"},"
            + " {\"name\": \"b\", \"real_time\": 1, \"time_unit\": \"ms\"}]}",
        "benchmarks[1].real_time",
        "unit");
  }

  @Test
  void vllmHasRatesLatenciesAndRequests() throws IOException {
    RunRecord run = read("vllm");

    assertThat(run.model().name()).isEqualTo("example/tiny");
    assertThat(cell(run, "vllm:rate=inf", "output throughput").figures().mean()).isEqualTo(24.125);
    MeasuredCell first = cell(run, "vllm:rate=inf", "ttft");
    assertThat(first.figures().mean()).isEqualTo(110);
    assertThat(first.figures().sd()).isEqualTo(10);
    assertThat(first.figures().trials()).as("requests that did not fail").isEqualTo(2);
    assertThat(first.values()).hasSize(3);
    assertThat(first.values().getLast().counts()).isFalse();
    assertThat(first.values().getFirst().value()).isCloseTo(100, within(ROUNDING));
    assertThat(cell(run, "vllm:rate=inf", "itl").values()).hasSize(3);
    assertThat(cell(run, "vllm:rate=inf", "ttft p99").figures().mean()).isEqualTo(119.8);
    assertRefused("vllm", "{\"completed\": 1}", "no result");
    assertRefused(
        "vllm", "{\"completed\": -1, \"request_throughput\": 1}", "completed", "negative");
    assertRefused(
        "vllm",
        "{\"completed\": 1, \"mean_ttft_ms\": 1, \"ttfts\": [0.1, -0.1]}",
        "ttfts[1]",
        "negative");
  }

  @Test
  void severalResultsOfVllmInOneFileAreSeveralRuns() throws IOException {
    Path file =
        Files.writeString(
            folder.resolve("appended.json"),
            """
            {"completed": 1, "request_rate": 1, "request_throughput": 1.0}
            {"completed": 1, "request_rate": 2, "request_throughput": 2.0}
            """);

    List<RunRecord> runs = Importers.of("vllm").read(file);

    assertThat(runs)
        .extracting(run -> run.cells().getFirst().figures().label())
        .containsExactly("vllm:rate=1", "vllm:rate=2");
    assertThat(runs).extracting(RunRecord::identity).doesNotHaveDuplicates();
  }
}
