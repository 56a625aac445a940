package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.app.CommandLineTest.Outcome;
import io.steelyard.engines.attention.AttentionAccuracy.Result;
import io.steelyard.lab.record.Json;
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

/** {@code attention accuracy} and {@code attention train} on a tiny model. */
final class AttentionAccuracyTest {
  private static final String MODEL =
      "../models/src/test/resources/io/steelyard/models/tiny/qwen2/qwen2.gguf";

  @TempDir private Path folder;

  private Outcome attention(String command, String... options) {
    List<String> arguments =
        new ArrayList<>(List.of("attention", command, "--model", MODEL, "--threads", "2"));
    arguments.addAll(List.of(options));
    return CommandLineTest.run("", arguments.toArray(String[]::new));
  }

  private Outcome accuracy(String... options) {
    List<String> arguments =
        new ArrayList<>(List.of("--runs", folder.toString(), "--tokens", "64", "--json"));
    arguments.addAll(List.of(options));
    return attention("accuracy", arguments.toArray(String[]::new));
  }

  @Test
  void whatIsDroppedIsCountedAndItsLossMeasured() throws IOException {
    Outcome outcome =
        accuracy(
            "--variants",
            "flash,sparse:pattern=top-k,sparse:pattern=learned,block=4,rest=means",
            "--density",
            "0.5,0.25",
            "--windows",
            "2",
            "--per-layer");

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.FINE);
    AttentionAccuracyCommand.Found found =
        Json.read(outcome.out(), AttentionAccuracyCommand.Found.class);
    List<Result> whole =
        found.results().stream().filter(result -> result.layer().isEmpty()).toList();
    assertThat(whole)
        .extracting(Result::variant)
        .containsExactly(
            "flash",
            "sparse:pattern=top-k,ratio=0.5",
            "sparse:pattern=top-k,ratio=0.75",
            "sparse:pattern=learned,block=4,rest=means,ratio=0.5",
            "sparse:pattern=learned,block=4,rest=means,ratio=0.75");
    Result flash = whole.getFirst();
    assertThat(flash.density()).isEqualTo(1);
    assertThat(flash.mass()).isBetween(0.999999, 1.000001);
    assertThat(flash.kldMean()).isLessThan(1e-3);
    Result half = whole.get(1);
    Result quarter = whole.get(2);
    assertThat(half.density()).isBetween(0.5, 0.55);
    assertThat(half.executed()).isGreaterThan(1);
    assertThat(quarter.mass()).isLessThan(half.mass());
    assertThat(quarter.kldMean()).isGreaterThan(half.kldMean()).isGreaterThan(flash.kldMean());
    // Each layer alone has its heads only.
    assertThat(found.results()).hasSizeGreaterThan(2 * whole.size());
    assertThat(found.results().get(1).heads())
        .hasSizeLessThan(flash.heads().size())
        .allMatch(head -> head.layer() == 0);
    try (Stream<Path> runs = Files.list(folder)) {
      Path run = runs.findFirst().orElseThrow();
      assertThat(run.resolve("accuracy.json")).exists();
      assertThat(run.resolve("perplexity.svg")).exists();
      assertThat(run.resolve("mass-2.png")).exists();
      assertThat(Files.readString(run.resolve("report.md")))
          .contains("What attention loses", "One layer alone", "![Mean KL", "--per-layer");
    }
  }

  @Test
  void aTrainedScorerIsWhatALearnedPatternTakes() throws IOException {
    Path scorer = folder.resolve("scorer.properties");

    Outcome trained =
        attention("train", "--tokens", "64", "--block", "4", "--out", scorer.toString());

    assertThat(trained.code()).as(trained.err()).isEqualTo(ExitCode.FINE);
    assertThat(trained.err()).contains("pairs of blocks from 2 windows of 64 tokens");
    assertThat(Files.readAllLines(scorer)).hasSize(8);
    Outcome used =
        accuracy("--variants", "sparse:pattern=learned,block=4,scorer=" + scorer, "--ratio", "0.5");
    assertThat(used.code()).as(used.err()).isEqualTo(ExitCode.FINE);
    Outcome again = attention("train", "--tokens", "64", "--block", "4");
    assertThat(again.out()).isEqualTo(Files.readString(scorer));
  }

  static Stream<Arguments> nonsense() {
    return Stream.of(
        Arguments.of(List.of("--density", "0"), "--density 0.0: give a share between 0 and 1"),
        Arguments.of(List.of("--ratio", "1.5"), "--ratio 1.5: give a share between 0 and 1"),
        Arguments.of(List.of("--tokens", "8"), "--tokens 8"),
        Arguments.of(List.of("--tokens", "30000"), "was trained for"),
        Arguments.of(List.of("--variants", "flesh"), "there is no attention 'flesh'"),
        Arguments.of(List.of("--variants", "flash,flash"), "names one twice"),
        Arguments.of(List.of("--text", "nowhere.txt"), "--text nowhere.txt"));
  }

  @ParameterizedTest
  @MethodSource("nonsense")
  void nonsenseIsRefused(List<String> options, String message) {
    Outcome outcome = attention("accuracy", options.toArray(String[]::new));

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.err()).contains(message);
  }
}
