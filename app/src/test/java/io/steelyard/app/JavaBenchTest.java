package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Journal;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.Summary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Benchmarks of the user's own, in real processes. The other example is run by {@link
 * DocumentedCommandsTest}.
 */
final class JavaBenchTest {
  private static final Path EXAMPLES = Path.of("..", "docs", "examples");

  @TempDir private Path folder;

  private CommandLineTest.Outcome bench(String... arguments) {
    List<String> all = new ArrayList<>(List.of("bench", "java"));
    all.addAll(List.of(arguments));
    all.addAll(List.of("--json", "--trials", "2", "--runs", folder.resolve("runs").toString()));
    return CommandLineTest.run("", all.toArray(String[]::new));
  }

  private Path source(String name, String benchmark) throws IOException {
    return Files.writeString(
        folder.resolve(name + ".java"),
        """
        import io.steelyard.lab.benchmark.*;
        import java.util.List;
        public final class %s implements Benchmarks {
          public List<Benchmark<?, ?>> benchmarks() {
            return List.of(%s);
          }
        }
        """
            .formatted(name, benchmark));
  }

  private Path run() throws IOException {
    try (Stream<Path> runs = Files.list(folder.resolve("runs"))) {
      return runs.findFirst().orElseThrow();
    }
  }

  @Test
  @Tag("soak")
  void theExampleOfSumsIsMeasured() {
    CommandLineTest.Outcome outcome =
        bench(EXAMPLES.resolve("Sums.java").toString(), "--forks", "1");

    assertThat(outcome.code()).as(outcome.err()).isZero();
    Summary summary = Json.read(outcome.out(), Summary.class);
    assertThat(summary.cells())
        .extracting(cell -> cell.label() + " " + cell.metric() + " " + cell.unit())
        .contains("loop thousand ns", "four sums million ns", "stream thousand ns");
    assertThat(summary.cells()).allMatch(cell -> cell.forks() == 1 && cell.trials() == 2);
    assertThat(summary.comparisons())
        .extracting(Summary.Comparison::verdict)
        .containsExactly("inconclusive", "inconclusive", "inconclusive", "inconclusive");
  }

  @Test
  void aVariantThatGivesSomethingElseIsNotTimed() throws IOException {
    Path file =
        source(
            "Wrong",
            """
            Benchmark.of("twice", "sum", (Integer x) -> x + x)
                .variant("square", x -> x * x)
                .variant("shift", x -> x << 1)
                .workload("two", () -> 2)
                .workload("three", () -> 3)
            """);

    CommandLineTest.Outcome outcome = bench(file.toString(), "--forks", "1");

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.PARITY);
    Summary summary = Json.read(outcome.out(), Summary.class);
    assertThat(summary.parity())
        .filteredOn(parity -> !parity.pass())
        .extracting(Summary.Parity::label, Summary.Parity::note)
        .containsExactly(tuple("square", "on three it gives something else than the baseline"));
    assertThat(Journal.read(run().resolve("trials.jsonl")))
        .filteredOn(Entry.Call.class::isInstance)
        .isNotEmpty()
        .noneMatch(call -> ((Entry.Call) call).cell().startsWith("square"));
  }

  @Test
  void whatTheUsersCodeThrowsIsToldByItsPlace() throws IOException {
    Path file =
        source(
            "Throwing",
            """
            Benchmark.of("half", "divide", (Integer x) -> x / 2)
                .variant("by zero", x -> x / 0)
                .workload("ten", () -> 10)
            """);

    CommandLineTest.Outcome outcome = bench(file.toString(), "--forks", "1");

    assertThat(outcome.code()).isEqualTo(ExitCode.FAILED);
    assertThat(outcome.err())
        .contains("by zero on ten threw java.lang.ArithmeticException: / by zero at Throwing");
  }

  @Test
  void whatCannotBeFoundOrCompiledIsAWrongUsage() throws IOException {
    Path broken = source("Broken", "Benchmark.of(1)");

    assertThat(bench("no.Such").err())
        .contains("there is no class no.Such in Steelyard's own classes: name its folder");
    assertThat(bench("no/Such.java").err()).contains("there is no file no/Such.java");
    assertThat(bench("java.lang.Object").err())
        .contains("java.lang.Object registers no benchmarks: it must implement");
    assertThat(bench(broken.toString()).code()).isEqualTo(ExitCode.USAGE);
    assertThat(bench(broken.toString()).err()).contains("can't be compiled", "Benchmark.of(1)");
    assertThat(bench(EXAMPLES.resolve("Sums.java").toString(), "--benchmark", "x").err())
        .contains("--benchmark x: Sums has sum");
    assertThat(bench(source("Empty", "Benchmark.of(\"a\", \"b\", x -> x)").toString()).err())
        .contains("benchmark 'a' has no workload");
  }
}
