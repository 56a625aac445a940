package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.app.CommandLineTest.Outcome;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.record.Summary.Quality;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code compare --precisions} on a tiny model. */
final class ComparePrecisionsTest {
  private static final Path MODEL =
      Path.of("../models/src/test/resources/io/steelyard/models/tiny/qwen2/qwen2.gguf");

  @TempDir private Path folder;

  private Outcome compare(String... options) {
    List<String> arguments =
        new ArrayList<>(
            List.of("compare", "-m", MODEL.toString(), "--runs", folder.toString(), "-t", "2"));
    arguments.addAll(List.of(options));
    return CommandLineTest.run("", arguments.toArray(String[]::new));
  }

  @Test
  void aPrecisionIsHeldAgainstItsSource() throws IOException {
    Outcome outcome =
        compare(
            "--precisions",
            "q8_0,f32",
            "--metrics",
            "decode",
            "--gen",
            "4",
            "--forks",
            "1",
            "--trials",
            "1",
            "--quality-windows",
            "1",
            "--json");

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.FINE);
    Summary summary = Json.read(outcome.out(), Summary.class);
    List<Quality> quality = summary.quality().orElseThrow();
    assertThat(quality).extracting(Quality::label).containsExactly("f32", "q8_0");
    assertThat(quality.getFirst().source()).isTrue();
    assertThat(quality.getLast().bytes()).isLessThan(quality.getFirst().bytes());
    assertThat(quality.getLast().kldMean()).isBetween(1e-5, 0.05);
    assertThat(quality.getLast().similarity()).isBetween(0.0, 1.0);
    assertThat(summary.fairness())
        .filteredOn(line -> line.line().startsWith("weight"))
        .allMatch(line -> line.state().equals("by design"));
    try (Stream<Path> runs = Files.list(folder)) {
      Path run = runs.findFirst().orElseThrow();
      assertThat(run.resolve("quality.svg")).exists();
      assertThat(Files.readString(run.resolve("report.md"))).contains("Quality against speed");
    }
  }

  static Stream<Arguments> nonsense() {
    return Stream.of(
        Arguments.of(List.of("--precisions", "q9"), "--precisions: there is no type 'q9'"),
        Arguments.of(List.of("--precisions", "q8_0,Q8_0"), "names Q8_0 twice"),
        Arguments.of(List.of("--precisions", "f32"), "nothing else to compare it with"),
        Arguments.of(
            List.of("--precisions", "q8_0", "-e", "steelyard", "-e", "null"),
            "in one engine, not 2"),
        Arguments.of(List.of("--precisions", "q8_0", "--kl-bound", "0"), "must be above 0"));
  }

  @ParameterizedTest
  @MethodSource("nonsense")
  void wrongUsageSaysWhatIsWrong(List<String> options, String said) {
    Outcome outcome = compare(options.toArray(String[]::new));

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.err()).contains(said).doesNotContain("\tat ");
  }
}
