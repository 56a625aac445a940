package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Suites of a few steps on a tiny model, from the command line to the report. */
final class SuiteTest {
  @TempDir private Path folder;
  private Path suite;

  @BeforeEach
  void copyModel() throws IOException {
    suite = folder.resolve("suite");
    try (InputStream in = SuiteTest.class.getResourceAsStream("llama-tied.gguf")) {
      Files.copy(in, folder.resolve("tiny.gguf"));
    }
  }

  private CommandLineTest.Outcome suite(String... more) {
    List<String> arguments = new ArrayList<>(List.of("suite"));
    arguments.addAll(List.of(more));
    arguments.addAll(
        List.of("--model", folder.resolve("tiny.gguf").toString(), "--into", suite.toString()));
    return CommandLineTest.run("", arguments.toArray(String[]::new));
  }

  @Test
  void itEndsInOneReportAndRunsNothingTwice() throws IOException {
    CommandLineTest.Outcome outcome = suite("--ci", "--only", "roofline,parity-tiers");

    assertThat(outcome.code()).as(outcome.err()).isZero();
    assertThat(outcome.err())
        .contains("2 steps in ", "step 2 of 2: parity-tiers, about ", "parity-tiers: fine after ");
    assertThat(suite.resolve("suite.md"))
        .content()
        .contains(
            "[roofline](<roofline.txt>) | fine |",
            "Every layer is within",
            "| engines | not run: it was not asked for |",
            "| model-smollm2-135m-instruct | not run: ");
    assertThat(suite.resolve("suite.html")).content().contains("href=\"parity-tiers.txt\"");
    byte[] before = Files.readAllBytes(suite.resolve("roofline.json"));

    CommandLineTest.Outcome again = suite("--ci", "--only", "roofline,parity-tiers");

    assertThat(again.code()).as(again.err()).isZero();
    assertThat(again.err()).contains("0 steps in ").doesNotContain("step 1");
    assertThat(Files.readAllBytes(suite.resolve("roofline.json"))).isEqualTo(before);

    CommandLineTest.Outcome other = suite("--quick");

    assertThat(other.code()).isEqualTo(ExitCode.FAILED);
    assertThat(other.err()).contains("a suite that was asked for otherwise (see its suite.json)");
  }

  @Test
  void whatIsAskedWronglyIsSaidBeforeAnythingRuns() throws IOException {
    Path gate = Files.writeString(folder.resolve("gate.yaml"), "metrics: {speed: {margin: 2%}}");
    for (List<String> wrong :
        List.of(
            List.of("--quick", "--ci", "leave one out"),
            List.of(
                "--quick",
                "--only",
                "roofline,nonsense",
                "--only nonsense is no step: there are roofline, matmul"),
            List.of("--gate", gate.toString(), "'speed' is unknown in 'metrics'"),
            List.of(
                "--only",
                "matmul",
                "--gate",
                "../docs/examples/gate.yaml",
                "--gate is for the step engines"))) {
      CommandLineTest.Outcome outcome =
          suite(wrong.subList(0, wrong.size() - 1).toArray(String[]::new));

      assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.USAGE);
      assertThat(outcome.err()).contains(wrong.getLast()).doesNotContain("\tat ");
      assertThat(suite).doesNotExist();
    }
  }

  @Test
  void theGravestStepGivesTheExitCode() {
    assertThat(SuiteCommand.gravest(List.of(0, 0))).isEqualTo(ExitCode.FINE);
    assertThat(SuiteCommand.gravest(List.of(0, 4))).isEqualTo(ExitCode.INCONCLUSIVE);
    assertThat(SuiteCommand.gravest(List.of(4, 2, 0))).isEqualTo(ExitCode.FAILED);
    assertThat(SuiteCommand.gravest(List.of(4, 139))).isEqualTo(ExitCode.FAILED);
    assertThat(SuiteCommand.gravest(List.of(1, 3, 4))).isEqualTo(ExitCode.REGRESSION);
    assertThat(SuiteCommand.gravest(List.of(3, 5, 1))).isEqualTo(ExitCode.PARITY);
  }

  @Test
  @Tag("soak")
  void aGateThatIsBrokenGivesItsExitCodeAndStandsInTheReport() throws IOException {
    Path gate = Files.writeString(folder.resolve("gate.yaml"), "quality: {mean-kl: 1e-30}");

    CommandLineTest.Outcome outcome =
        suite("--quick", "--only", "engines", "--gate", gate.toString());

    assertThat(outcome.code()).as(outcome.err()).isEqualTo(ExitCode.REGRESSION);
    assertThat(suite.resolve("suite.md"))
        .content()
        .contains("-engines/report.md>) | regression |", "## All comparisons", "| pp512 |");
  }
}
