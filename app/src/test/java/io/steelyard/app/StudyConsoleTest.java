package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.steelyard.lab.RunException;
import io.steelyard.lab.record.Blocks;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.lab.study.Study;
import io.steelyard.models.ModelException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What must hold before a run goes on, and what its end means for the exit code. */
final class StudyConsoleTest {
  @TempDir private Path folder;
  private Path model;

  @BeforeEach
  void copyModel() throws IOException {
    model = folder.resolve("tiny.gguf");
    try (InputStream in = StudyConsoleTest.class.getResourceAsStream("llama-tied.gguf")) {
      Files.copy(in, model);
    }
  }

  private RunDirectory create(String sha256) throws IOException {
    Study study =
        Study.builder("steelyard compare")
            .model(new Study.Model("tiny", model.toString(), sha256, false, Files.size(model)))
            .engines(Map.of("steelyard", new Study.Engine("steelyard", "steelyard", Map.of())))
            .baseline("steelyard")
            .metrics(List.of("prefill"))
            .shape(new Study.Shape(64, 16, 0, 1))
            .settings(new Study.Settings(1, 256, "f32", true, ""))
            .design(new Study.Design(3, 1, 3, 1, 60, 0.02, 42))
            .build();
    return RunDirectory.create(folder.resolve("runs"), "compare", study);
  }

  private void resume(RunDirectory run) throws Exception {
    run.close();
    var _ = new StudyConsole(new Console(), false).resume(folder, run.path().toString());
  }

  @Test
  void aRunWhoseModelWasReplacedDoesNotGoOn() throws Exception {
    RunDirectory run = create("00ff");

    assertThatExceptionOfType(RunException.class)
        .isThrownBy(() -> resume(run))
        .withMessageStartingWith(model + " is not the model that this run was begun with")
        .withMessageEndingWith("put that file back or start a new run");
    assertThat(run.journalFile()).doesNotExist();
  }

  @Test
  void aRunWhoseModelIsGoneDoesNotGoOn() throws Exception {
    RunDirectory run = create("00ff");
    Files.delete(model);

    assertThatExceptionOfType(ModelException.class)
        .isThrownBy(() -> resume(run))
        .withMessage("there is no file " + model);
  }

  @Test
  void aRunOnOtherHardwareDoesNotGoOn() throws Exception {
    try (RunDirectory run = create("00ff")) {
      run.writeEnvironment(Map.of("hardware", Map.of("processor", "another one")));

      assertThatExceptionOfType(RunException.class)
          .isThrownBy(() -> StudyConsole.rememberEnvironment(run))
          .withMessageStartingWith("the hardware is not what " + run.path() + " was begun on");
    }
  }

  @Test
  void theEnvironmentIsWrittenWhereItIsMissingAndKeptWhereItIsThere() throws Exception {
    try (RunDirectory run = create("00ff")) {
      StudyConsole.rememberEnvironment(run);
      Map<?, ?> written = run.read(RunDirectory.ENVIRONMENT, Map.class);
      assertThat(written.get("hardware")).isInstanceOf(Map.class);

      Map<String, Object> marked = new HashMap<>(Map.of("hardware", written.get("hardware")));
      marked.put("mark", "first");
      run.writeEnvironment(marked);
      StudyConsole.rememberEnvironment(run);

      Map<?, ?> kept = run.read(RunDirectory.ENVIRONMENT, Map.class);
      assertThat(kept).isEqualTo(marked);
    }
  }

  private static int exitCode(List<String> differing, List<String> broken) {
    Summary summary = new Summary("", "", "", "", List.of(), List.of(), List.of(), List.of());
    return StudyConsole.exitCode(
        new StudyRun.Outcome(summary, summary, Blocks.of(List.of()), differing, broken));
  }

  @Test
  void onlyAnEngineThatComputesSomethingElseIsAParityFailure() {
    assertThat(exitCode(List.of(), List.of())).isEqualTo(ExitCode.FINE);
    assertThat(exitCode(List.of(), List.of("it died"))).isEqualTo(ExitCode.FAILED);
    assertThat(exitCode(List.of("a"), List.of())).isEqualTo(ExitCode.PARITY);
    assertThat(exitCode(List.of("a"), List.of("b died"))).isEqualTo(ExitCode.PARITY);
  }
}
