package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.history.HistoryStore;
import io.steelyard.history.MeasuredCell;
import io.steelyard.history.RunRecord;
import io.steelyard.lab.record.Summary;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The exit codes of {@code regress}, on a command that sleeps for a known time in each commit. */
final class RegressTest {
  @TempDir private Path folder;

  @BeforeEach
  void commits() throws IOException, InterruptedException {
    git("init", "-q");
    commit("long", "0.5");
    commit("short", "0.1");
    commit("again", "0.1");
  }

  private void commit(String tag, String seconds) throws IOException, InterruptedException {
    Files.writeString(folder.resolve("tool"), "sleep " + seconds + " # " + tag + "\n");
    git("add", "tool");
    git("-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "-m", tag);
    git("tag", tag);
  }

  private void git(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("git"));
    command.addAll(List.of(arguments));
    assertThat(new ProcessBuilder(command).directory(folder.toFile()).inheritIO().start().waitFor())
        .isZero();
  }

  private CommandLineTest.Outcome regress(String base, String head, String... more) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "regress",
                "--repository",
                folder.toString(),
                "--base",
                base,
                "--head",
                head,
                "--command",
                "sh tool",
                "--warm-up",
                "0",
                "--trials",
                "1",
                "--margin",
                "50%",
                "--runs",
                folder.resolve("runs").toString()));
    arguments.addAll(List.of(more));
    return CommandLineTest.run("", arguments.toArray(String[]::new));
  }

  @Test
  void aSlowerCommitIsARegression() throws IOException {
    Path junit = folder.resolve("junit.xml");
    Path markdown = folder.resolve("summary.md");

    CommandLineTest.Outcome outcome =
        regress(
            "short",
            "long",
            "--forks",
            "3",
            "--junit",
            junit.toString(),
            "--markdown",
            markdown.toString(),
            "--annotations");

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.REGRESSION);
    assertThat(outcome.err()).contains("Regression: long", "against short", "slower in time");
    assertThat(outcome.out()).contains("::error title=Regression in time::head is");
    assertThat(junit).content().contains("failures=\"1\"", "<failure message=");
    assertThat(markdown).content().contains("### Regression: ", "| time |");
  }

  @Test
  void whereNothingIsStoredOfThisHardwareNothingIsMeasured() throws IOException {
    CommandLineTest.Outcome outcome = stored();

    assertThat(outcome.code()).isEqualTo(ExitCode.FAILED);
    assertThat(outcome.err()).contains("there is nothing to hold this against: no run in ");
    assertThat(folder.resolve("runs")).doesNotExist();
  }

  @Test
  void runsOfOtherHardwareAreNoneToHoldItAgainst() throws IOException {
    String name = model().toString();
    Summary.Cell cell =
        new Summary.Cell(
            "steelyard",
            "steelyard",
            name,
            "F32",
            "pp64",
            "tok/s",
            "higher",
            100.0,
            100.0,
            null,
            100.0,
            100.0,
            null,
            null,
            3,
            3,
            "steady",
            0,
            null);
    try (HistoryStore history = HistoryStore.open(folder.resolve("history").toString())) {
      history.add(
          new RunRecord(
              "elsewhere",
              RunRecord.STEELYARD,
              Instant.parse("2026-03-01T12:00:00Z"),
              "",
              new RunRecord.Model(name, "", "random"),
              "",
              RunRecord.Commit.UNKNOWN,
              Map.of("hardware", Map.of("processor", "Another CPU")),
              "elsewhere",
              "elsewhere",
              0,
              List.of(new MeasuredCell(cell, List.of())),
              List.of()));
    }

    CommandLineTest.Outcome outcome = stored();

    assertThat(outcome.code()).isEqualTo(ExitCode.FAILED);
    assertThat(outcome.err())
        .contains("there is nothing to hold this against: ")
        .contains("has 1 values of 'pp64', but none is known to be made on hardware ")
        .contains("only equal hardware is compared");
    assertThat(folder.resolve("runs")).doesNotExist();
  }

  private CommandLineTest.Outcome stored() throws IOException {
    return CommandLineTest.run(
        "",
        "regress",
        "--against",
        "stored",
        "--history",
        folder.resolve("history").toString(),
        "--model",
        model().toString(),
        "--metrics",
        "prefill",
        "--prompt",
        "64",
        "--forks",
        "3",
        "--trials",
        "1",
        "--margin",
        "90%",
        "--runs",
        folder.resolve("runs").toString());
  }

  private Path model() throws IOException {
    Path model = folder.resolve("tiny.gguf");
    try (InputStream in = RegressTest.class.getResourceAsStream("llama-tied.gguf")) {
      Files.copy(in, model, StandardCopyOption.REPLACE_EXISTING);
    }
    return model;
  }

  @Test
  @Tag("soak")
  void aRunIsHeldAgainstStoredOnes() throws IOException {
    for (int run = 0; run < 2; run++) {
      Path runs = folder.resolve("earlier" + run);
      assertThat(
              CommandLineTest.run(
                      "",
                      "bench",
                      "prefill",
                      "--model",
                      model().toString(),
                      "--prompt",
                      "64",
                      "--forks",
                      "3",
                      "--trials",
                      "1",
                      "--runs",
                      runs.toString())
                  .code())
          .isZero();
      try (Stream<Path> made = Files.list(runs)) {
        assertThat(
                CommandLineTest.run(
                        "",
                        "history",
                        "import",
                        made.findFirst().orElseThrow().toString(),
                        "--history",
                        folder.resolve("history").toString())
                    .code())
            .isZero();
      }
      if (run == 0) {
        CommandLineTest.Outcome one = stored();
        assertThat(one.code()).as(one.err()).isEqualTo(ExitCode.INCONCLUSIVE);
        assertThat(one.out()).contains("need ≥ 2 stored runs, there is 1");
      }
    }

    CommandLineTest.Outcome outcome = stored();

    assertThat(outcome.code()).as(outcome.err()).isIn(ExitCode.FINE, ExitCode.INCONCLUSIVE);
    assertThat(outcome.out()).contains("against 3 stored runs, not measured together");
  }

  @Test
  @Tag("soak")
  void aFasterCommitIsNoAlarm() {
    CommandLineTest.Outcome outcome = regress("long", "short", "--forks", "3");

    assertThat(outcome.code()).as(outcome.err()).isZero();
    assertThat(outcome.err()).contains("No regression: short", "faster in time");
  }

  @Test
  void aCommitThatChangesNothingIsNoAlarm() {
    CommandLineTest.Outcome outcome = regress("short", "again", "--forks", "3");

    assertThat(outcome.code()).as(outcome.err()).isZero();
    assertThat(outcome.err()).contains("No regression: again", "no change over the margin");
  }

  @Test
  void whatCannotBeDecidedHasACodeOfItsOwnUnlessTheGateLetsItPass() throws IOException {
    CommandLineTest.Outcome outcome = regress("long", "short", "--forks", "1");

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.INCONCLUSIVE);
    assertThat(outcome.err()).contains("Undecided: short", "undecided in time");

    Path gate =
        Files.writeString(folder.resolve("gate.yaml"), "metrics: {time: {undecided: pass}}");
    CommandLineTest.Outcome passed =
        regress("long", "short", "--forks", "1", "--gate", gate.toString());

    assertThat(passed.code()).as(passed.err()).isZero();
  }
}
