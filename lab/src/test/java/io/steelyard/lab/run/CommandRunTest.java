package io.steelyard.lab.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.steelyard.lab.RunException;
import io.steelyard.lab.RunListener;
import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Entry.Role;
import io.steelyard.lab.record.Journal;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineRegistry;
import io.steelyard.lab.worker.EngineSpec;
import io.steelyard.lab.worker.WorkerException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real commands, run by the shell. */
class CommandRunTest {
  private static final int BLOCKS = 3;
  private static final int WARM_UP = 1;
  private static final int TRIALS = 2;

  @TempDir private Path folder;
  private final Map<String, Study.Engine> commands = new LinkedHashMap<>();
  private EngineRegistry registry;
  private RunDirectory directory;

  @BeforeEach
  void makeTheTestEngineTheSentinel() throws EngineException {
    registry =
        EngineRegistry.of(folder)
            .with(
                Map.of(
                    "sentinel",
                    EngineRegistry.of(folder).command(EngineSpec.parse("test")).command()));
  }

  private void command(String label, String command, String prepare, String cleanup) {
    commands.put(label, CommandRun.engine(command, prepare, cleanup, false));
  }

  private StudyRun.Outcome run() throws WorkerException {
    Study study =
        Study.builder("steelyard compare")
            .model(new Study.Model("commands", "", "", false, 0))
            .engines(commands)
            .baseline(commands.keySet().iterator().next())
            .metrics(List.of("time"))
            .shape(new Study.Shape(0, 0, 0, 1))
            .settings(new Study.Settings(1, 0, "", false, ""))
            .design(new Study.Design(BLOCKS, TRIALS, WARM_UP, 0, 60, 0.02, 42))
            .build();
    try (RunDirectory made = RunDirectory.create(folder.resolve("runs"), "test", study)) {
      directory = made;
      return CommandRun.run(made, registry, RunListener.NONE);
    }
  }

  private List<Entry.Call> calls(Role role) {
    return Journal.read(directory.journalFile()).stream()
        .filter(Entry.Call.class::isInstance)
        .map(Entry.Call.class::cast)
        .filter(call -> call.role() == role)
        .toList();
  }

  private Path counter(String name) {
    return folder.resolve(name);
  }

  private int count(String name) throws IOException {
    return Files.readAllLines(counter(name)).size();
  }

  @Test
  void eachCommandRunsInEveryBlockPreparedBeforeAndCleanedUpAfter() throws Exception {
    command(
        "one",
        "echo x >> " + counter("ran"),
        "echo x >> " + counter("prepared"),
        "echo x >> " + counter("cleaned"));
    command("two", "sleep 0.05", "", "");

    StudyRun.Outcome outcome = run();

    int attempts = outcome.blocks().repeated() + BLOCKS;
    // Each was tried once before the first block.
    int runs = 1 + attempts * (WARM_UP + TRIALS);
    assertThat(count("ran")).isEqualTo(runs);
    assertThat(count("prepared")).isEqualTo(runs);
    assertThat(count("cleaned")).isEqualTo(runs);
    assertThat(calls(Role.TRIAL)).hasSize(2 * attempts * TRIALS);
    assertThat(outcome.broken()).isEmpty();
    Summary.Comparison comparison = outcome.summary().comparisons().getFirst();
    assertThat(comparison.metric()).isEqualTo("time");
    assertThat(comparison.subject()).isEqualTo("two");
    assertThat(comparison.ratio()).as("it sleeps, the other does not").isLessThan(0.5);
    assertThat(calls(Role.TRIAL))
        .filteredOn(call -> call.cell().startsWith("two/"))
        .allMatch(call -> call.nanos() >= 50_000_000);
  }

  @Test
  void aCommandThatFailsIsRefusedBeforeAnythingIsMeasured() {
    command("fine", "true", "", "");
    command("broken", "echo no such thing >&2; exit 7", "", "");

    assertThatExceptionOfType(RunException.class)
        .isThrownBy(this::run)
        .withMessageContaining("'broken' can't be measured: the command exited with code 7")
        .withMessageContaining("no such thing");
    assertThat(calls(Role.TRIAL)).isEmpty();
  }

  @Test
  void aCommandThatFailsNowAndThenIsReportedAndNeverAveraged() throws Exception {
    // Fine when it is tried, then fails every other time.
    command(
        "flaky",
        "echo x >> %1$s; test $(( $(wc -l < %1$s) %% 2 )) = 1".formatted(counter("flaky")),
        "",
        "");
    command("fine", "true", "", "");

    StudyRun.Outcome outcome = run();

    assertThat(outcome.broken()).singleElement().asString().contains("flaky failed: the command");
    assertThat(outcome.summary().comparisons().getFirst().verdict()).isEqualTo("not comparable");
  }

  @Test
  void aFailureThatIsIgnoredIsMeasured() throws Exception {
    commands.put("grep", CommandRun.engine("exit 1", "", "", true));
    command("fine", "true", "", "");

    assertThat(run().broken()).isEmpty();
    assertThat(calls(Role.TRIAL)).isNotEmpty();
  }

  @Test
  void aCommandMayPrintAsMuchAsItLikes() throws Exception {
    command("loud", "head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2", "", "");
    command("fine", "true", "", "");

    assertThat(run().broken()).isEmpty();
  }

  @Test
  void whatACommandLeavesRunningEndsWithIt() throws Exception {
    Path file = counter("late");
    command("leaves", "(sleep 1; echo x >> " + file + ") & true", "", "");
    command("fine", "true", "", "");
    run();

    Process waiting = new ProcessBuilder("sleep", "1.2").start();
    assertThat(waiting.waitFor()).isZero();
    assertThat(file).doesNotExist();
  }
}
