package io.steelyard.lab.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.lab.RunListener;
import io.steelyard.lab.TestData;
import io.steelyard.lab.record.Json;
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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole runs of a bigram model, which is its own oracle. */
class StudyRunTest {
  @TempDir private Path folder;
  private Path cache;
  private final List<String> notes = new ArrayList<>();
  private EngineRegistry registry;
  private RunDirectory directory;

  @BeforeEach
  void makeTheTestEngineTheOracleAndTheSentinel() throws IOException, EngineException {
    cache = folder.resolve("cache");
    List<String> command = EngineRegistry.of(folder).command(EngineSpec.parse("test")).command();
    Path engines = Files.createDirectories(folder.resolve("engines"));
    for (String name : List.of("steelyard", "sentinel")) {
      Files.writeString(
          engines.resolve(name + ".json"),
          Json.line(Map.of("name", name, "description", "", "command", command)));
    }
    registry = EngineRegistry.of(engines);
  }

  /** An executable that starts the test engine. */
  private Path program() throws IOException, EngineException {
    String command =
        registry.command(EngineSpec.parse("test")).command().stream()
            .map(part -> "'" + part.replace("'", "'\\''") + "'")
            .collect(Collectors.joining(" "));
    Path program = Files.writeString(folder.resolve("engine"), "#!/bin/sh\nexec " + command + "\n");
    assertThat(program.toFile().setExecutable(true)).isTrue();
    return program;
  }

  private Study.Design design = new Study.Design(1, 1, 3, 1, 60, 0.02, 42);

  private StudyRun.Outcome run(String... specs) throws WorkerException {
    Study plan = TestData.study(List.of("prefill"), "x");
    Map<String, Study.Engine> engines = new LinkedHashMap<>();
    for (String text : specs) {
      EngineSpec spec = EngineSpec.parse(text);
      engines.put(spec.label(), new Study.Engine(text, spec.name(), spec.options()));
    }
    Study study =
        plan.toBuilder()
            .engines(engines)
            .baseline(engines.keySet().iterator().next())
            .settings(new Study.Settings(1, 1024, "f32", true, ""))
            .design(design)
            .build();
    try (RunDirectory made = RunDirectory.create(folder.resolve("runs"), "test", study)) {
      directory = made;
      return new StudyRun(made, registry, cache, listener()).run();
    }
  }

  @Test
  void aBudgetThatIsSpentAtOnceAllowsTheLeastBlocks() throws Exception {
    design = new Study.Design(200, 1, 3, 1, 0.1, 0.02, 42).adapting(new Study.Adaptive(0.01, 1));

    StudyRun.Outcome outcome = run("test", "test:label=again");

    assertThat(outcome.blocks().all()).hasSize(3);
    assertThat(outcome.blocks().spentShare(3)).as("there is but one look").isEqualTo(1);
    assertThat(notes).anyMatch(note -> note.contains("in about 3 blocks, or fewer"));
  }

  private RunListener listener() {
    return new RunListener() {
      @Override
      public void progress(String stage, double share, String detail) {}

      @Override
      public void note(String message) {
        notes.add(message);
      }
    };
  }

  private List<String> kept() throws IOException {
    Path parity = cache.resolve("parity");
    if (Files.notExists(parity)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(parity)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }

  private static String state(StudyRun.Outcome outcome, String label) {
    return outcome.summary().cells().stream()
        .filter(cell -> cell.label().equals(label))
        .map(Summary.Cell::state)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void soundEnginesAreMeasuredAndTheRunTellsWhatTheyWere() throws Exception {
    StudyRun.Outcome outcome = run("test", "test:label=again");

    assertThat(outcome.parity()).as(outcome.summary().parity().toString()).isTrue();
    assertThat(outcome.differing()).isEmpty();
    assertThat(outcome.broken()).isEmpty();
    assertThat(outcome.blocks().all()).hasSize(1);
    Map<?, ?> engines = directory.read("engines.json", Map.class);
    assertThat(engines.keySet()).isEqualTo(java.util.Set.of("test", "again"));
    Map<?, ?> again = (Map<?, ?>) engines.get("again");
    assertThat(((Map<?, ?>) again.get("engine")).get("version")).isEqualTo("1");
    assertThat(((Map<?, ?>) again.get("engine")).get("build")).isEqualTo("1");
    assertThat(((Map<?, ?>) again.get("settings")).get("threads")).isEqualTo(1);
    assertThat(again.get("libraries"))
        .isEqualTo(List.of(Map.of("path", "/lib/x.so", "sha256", "00ff")));
  }

  @Test
  void anEngineThatComputesSomethingElseIsTold() throws Exception {
    StudyRun.Outcome outcome = run("test", "test:fault=nan,label=wrong");

    assertThat(outcome.differing()).containsExactly("wrong");
    assertThat(outcome.broken()).isEmpty();
    assertThat(outcome.parity()).isFalse();
    assertThat(kept()).as("a failure is not kept").hasSize(1);
  }

  @Test
  void anEngineThatRefusesItsOptionsIsBrokenRatherThanDifferent() throws Exception {
    StudyRun.Outcome outcome = run("test", "test:nonsense=1,label=refuses");

    assertThat(outcome.differing()).isEmpty();
    assertThat(outcome.broken())
        .singleElement()
        .asString()
        .startsWith("refuses could not be judged: ")
        .contains("nonsense");
  }

  @Test
  void anEngineOfAnotherVocabularyEndsNoOthersRun() throws Exception {
    StudyRun.Outcome outcome = run("test", "test:fault=width,label=wide", "test:label=again");

    assertThat(outcome.differing()).isEmpty();
    assertThat(outcome.broken())
        .containsExactly(
            "wide could not be judged: wide gives 54 logits a position where the oracle gives 53");
    assertThat(state(outcome, "again")).isNotEqualTo("failed");
  }

  @Test
  void anEngineThatDiesWhenItIsMeasuredIsTold() throws Exception {
    StudyRun.Outcome outcome = run("test", "test:fault=measured,label=dies");

    assertThat(outcome.parity()).isTrue();
    assertThat(outcome.differing()).isEmpty();
    assertThat(outcome.broken()).singleElement().asString().startsWith("dies/pp512 failed: ");
    assertThat(state(outcome, "dies")).isEqualTo("failed");
    assertThat(state(outcome, "test")).isNotEqualTo("failed");
  }

  @Test
  void aProgramThatWasEditedIsProvedAgain() throws Exception {
    Path program = program();
    run(program + ":label=mine");
    assertThat(kept()).hasSize(1);
    run(program + ":label=mine");
    assertThat(kept()).as("the same program").hasSize(1);

    Files.writeString(program, Files.readString(program) + "# edited\n");
    run(program + ":label=mine");

    assertThat(kept()).hasSize(2);
  }

  @Test
  void aCacheThatCantBeWrittenStopsNothing() throws Exception {
    Files.writeString(cache, "a file where the cache should be");

    StudyRun.Outcome outcome = run("test");

    assertThat(outcome.parity()).isTrue();
    assertThat(outcome.blocks().all()).isNotEmpty();
    assertThat(notes)
        .anyMatch(note -> note.startsWith("the oracle's results can't be kept in " + cache))
        .anyMatch(note -> note.startsWith("what parity found for test can't be kept in " + cache))
        .noneMatch(note -> note.contains("(" + cache));
  }
}
