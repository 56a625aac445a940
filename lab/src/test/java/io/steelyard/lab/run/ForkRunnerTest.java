package io.steelyard.lab.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.steelyard.lab.RunException;
import io.steelyard.lab.TestData;
import io.steelyard.lab.parity.EngineParity;
import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Journal;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.lab.text.Prompts;
import io.steelyard.lab.worker.EngineRegistry;
import io.steelyard.lab.worker.Timeouts;
import io.steelyard.lab.worker.Workers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ForkRunnerTest {
  private static final int PROMPTS = 8;
  private static final Prompts PROMPT = new Prompts(List.of(new int[] {1, 2, 3}));

  @TempDir private Path folder;

  @Test
  void theTrialsOfABlockWorkOnDifferentPrompts() {
    for (int block = 1; block <= 50; block++) {
      Set<Integer> prompts = new HashSet<>();
      for (int trial = 0; trial < 3; trial++) {
        prompts.add(ForkRunner.trialPrompt(block, 3, trial, PROMPTS));
      }
      assertThat(prompts).hasSize(3).allMatch(prompt -> prompt >= 0 && prompt < PROMPTS);
    }
  }

  @Test
  void theBlocksUseEveryPromptEquallyOften() {
    int[] uses = new int[PROMPTS];
    for (int block = 1; block <= PROMPTS; block++) {
      for (int trial = 0; trial < 3; trial++) {
        uses[ForkRunner.trialPrompt(block, 3, trial, PROMPTS)]++;
      }
    }
    assertThat(uses).containsOnly(3);
  }

  @Test
  void noWarmUpCallSeesThePromptOfATrial() {
    for (int block = 1; block <= 20; block++) {
      for (int trials = 1; trials < PROMPTS; trials++) {
        Set<Integer> timed = new HashSet<>();
        for (int trial = 0; trial < trials; trial++) {
          timed.add(ForkRunner.trialPrompt(block, trials, trial, PROMPTS));
        }
        for (int call = 0; call < 40; call++) {
          assertThat(timed).doesNotContain(ForkRunner.warmUpPrompt(block, trials, call, PROMPTS));
        }
      }
    }
  }

  @Test
  void warmUpCallsInARowSeeDifferentPrompts() {
    for (int call = 0; call < 40; call++) {
      assertThat(ForkRunner.warmUpPrompt(1, 3, call, PROMPTS))
          .isNotEqualTo(ForkRunner.warmUpPrompt(1, 3, call + 1, PROMPTS));
    }
  }

  private static final Study STUDY = onTestEngine(TestData.study(List.of("prefill"), "a/x", "b"));

  /** The same with engines that exist. */
  private static Study onTestEngine(Study study) {
    Map<String, Study.Engine> engines = new LinkedHashMap<>();
    study.engines().keySet().forEach(l -> engines.put(l, new Study.Engine(l, "test", Map.of())));
    return with(study, engines);
  }

  private static Study with(Study study, Map<String, Study.Engine> engines) {
    return study.toBuilder()
        .engines(engines)
        .settings(new Study.Settings(1, 1024, "f16", true, ""))
        .build();
  }

  private void runFork(Journal journal, EngineParity expected) {
    run(journal, List.of(place("a/x")), Map.of("a/x", expected));
  }

  private static BlockLoop.Place place(String label) {
    return new BlockLoop.Place(
        2, 1, new Cell(label, Workload.prefill(512, 0)), 1, STUDY.design().trials());
  }

  private void run(
      Journal journal, List<BlockLoop.Place> places, Map<String, EngineParity> parity) {
    run(STUDY, journal, places, parity);
  }

  private void run(
      Study study,
      Journal journal,
      List<BlockLoop.Place> places,
      Map<String, EngineParity> parity) {
    new ForkRunner(study, workers(study), PROMPT, journal, parity).run(places);
  }

  private Workers workers(Study study) {
    return new Workers(
        study.model(),
        study.settings(),
        EngineRegistry.of(folder.resolve("engines")),
        name -> folder.resolve("stderr.log"),
        folder.resolve("scratch"));
  }

  /** The test engine says that its build is 1. */
  private static EngineParity provedBuild(String build) {
    return TestData.built(TestData.parity("a/x"), build);
  }

  private Journal journal() {
    return Journal.open(folder.resolve("trials.jsonl"));
  }

  @Test
  void aProcessOfTheProvedBuildIsMeasuredAndItsBuildRecorded() {
    try (Journal journal = journal()) {
      runFork(journal, provedBuild("1"));

      assertThat(journal.entries().getFirst())
          .isInstanceOfSatisfying(
              Entry.ForkStart.class, start -> assertThat(start.build()).isEqualTo("1"));
      assertThat(journal.entries().getLast())
          .isInstanceOfSatisfying(Entry.ForkEnd.class, end -> assertThat(end.failure()).isEmpty());
    }
  }

  @Test
  void processesTakeTurnsAtTrialsInAnOrderThatTurnsRound() {
    try (Journal journal = journal()) {
      run(
          journal,
          List.of(place("a/x"), place("b")),
          Map.of("a/x", provedBuild("1"), "b", TestData.built(TestData.parity("b"), "1")));

      List<String> turns = new ArrayList<>();
      List<Entry> ends = new ArrayList<>();
      for (Entry entry : journal.entries()) {
        if (entry instanceof Entry.Call call && call.role() == Entry.Role.TRIAL) {
          turns.add(Cell.label(call.cell()) + call.index());
        } else if (entry instanceof Entry.ForkEnd) {
          ends.add(entry);
        }
      }
      assertThat(turns).containsExactly("a/x0", "b0", "a/x1", "b1", "a/x2", "b2");
      assertThat(ends).hasSize(2).isEqualTo(lastTwo(journal.entries()));
    }
  }

  private static List<Entry> lastTwo(List<Entry> entries) {
    return entries.subList(entries.size() - 2, entries.size());
  }

  @Test
  void aProcessThatFailsHoldsUpNoOther() {
    try (Journal journal = journal()) {
      Map<String, EngineParity> parity = new LinkedHashMap<>();
      parity.put("missing", TestData.built(TestData.parity("a/x"), "1"));
      parity.put("b", TestData.built(TestData.parity("b"), "1"));
      Study study = withEngine("missing", new Study.Engine("none", "/bin/false", Map.of()));

      run(study, journal, List.of(place("missing"), place("b")), parity);

      Map<String, String> failures = new LinkedHashMap<>();
      for (Entry entry : journal.entries()) {
        if (entry instanceof Entry.ForkEnd end) {
          failures.put(Cell.label(end.cell()), end.failure());
        }
      }
      assertThat(failures).containsOnlyKeys("missing", "b").containsEntry("b", "");
      assertThat(failures.get("missing")).isNotEmpty();
    }
  }

  @Test
  void labelsThatShareAProcessWorkInItOneAfterTheOther() {
    Map<String, EngineParity> parity =
        Map.of("a/x", provedBuild("1"), "b", TestData.built(TestData.parity("b"), "1"));
    List<Entry.ForkStart> starts = new ArrayList<>();
    List<String> trials = new ArrayList<>();
    try (Journal journal = journal();
        SharedWorkers shared = new SharedWorkers(workers(STUDY))) {
      ForkRunner runner =
          new ForkRunner(STUDY, workers(STUDY), PROMPT, journal, parity, Optional.of(shared));
      runner.run(List.of(place("a/x"), place("b")));
      runner.run(List.of(new BlockLoop.Place(3, 1, place("b").cell(), 1, 1)));

      for (Entry entry : journal.entries()) {
        switch (entry) {
          case Entry.ForkStart start -> starts.add(start);
          case Entry.Call call when call.role() == Entry.Role.TRIAL ->
              trials.add(Cell.label(call.cell()) + call.index());
          case Entry.ForkEnd end -> {
            assertThat(end.failure()).isEmpty();
            assertThat(end.peakBytes()).as("no label's own").isZero();
          }
          default -> {}
        }
      }
    }
    assertThat(trials).containsExactly("a/x0", "a/x1", "a/x2", "b0", "b1", "b2", "b0");
    assertThat(starts.get(1).pid()).isEqualTo(starts.get(0).pid());
    assertThat(starts.get(2).pid()).as("another block's").isNotEqualTo(starts.get(1).pid());
    assertThat(starts.get(0).runtimeNanos()).isPositive();
    assertThat(starts.get(1).runtimeNanos()).as("it was there already").isZero();
    assertThat(ProcessHandle.of(starts.get(0).pid())).as("ended").isEmpty();
    assertThat(ProcessHandle.of(starts.get(2).pid())).as("ended").isEmpty();
  }

  @Test
  void aLabelThatFailsInASharedProcessHoldsUpNoOther() {
    Study study = withEngine("missing", new Study.Engine("none", "/bin/false", Map.of()));
    Map<String, EngineParity> parity =
        Map.of(
            "missing",
            TestData.built(TestData.parity("a/x"), "1"),
            "b",
            TestData.built(TestData.parity("b"), "1"));
    try (Journal journal = journal();
        SharedWorkers shared = new SharedWorkers(workers(study))) {
      new ForkRunner(study, workers(study), PROMPT, journal, parity, Optional.of(shared))
          .run(List.of(place("missing"), place("b")));

      assertThat(journal.entries())
          .filteredOn(Entry.ForkEnd.class::isInstance)
          .extracting(end -> ((Entry.ForkEnd) end).failure().isEmpty())
          .containsExactly(false, true);
    }
  }

  private static Study withEngine(String label, Study.Engine engine) {
    Map<String, Study.Engine> engines = new LinkedHashMap<>(STUDY.engines());
    engines.put(label, engine);
    return with(STUDY, engines);
  }

  @Test
  void aCallMayTakeTwentyTimesWhatItTookInTheParityRun() {
    Workload workload = Workload.prefill(512, 0);
    long second = 1_000_000_000;

    assertThat(ForkRunner.timeouts(workload, Map.of("pp512", second / 100)).call())
        .isEqualTo(Duration.ofMinutes(1));
    assertThat(ForkRunner.timeouts(workload, Map.of("pp512", 7 * second)).call())
        .isEqualTo(Duration.ofSeconds(140));
    assertThat(ForkRunner.timeouts(workload, Map.of("tg64", 7 * second)))
        .as("a call that parity didn't make")
        .isEqualTo(Timeouts.DEFAULT);
    assertThat(ForkRunner.timeouts(workload, Map.of("pp512", second)).load())
        .isEqualTo(Timeouts.DEFAULT.load());
  }

  @Test
  void theCallsAfterAColdStartHaveTheirTimeToo() {
    Workload start = Workload.start(512, 64, 0);
    long second = 1_000_000_000;

    assertThat(
            ForkRunner.timeouts(
                    start, Map.of("start", second, "pp512", 5 * second, "tg64", 9 * second))
                .call())
        .isEqualTo(Duration.ofMinutes(3));
    assertThat(ForkRunner.timeouts(start, Map.of("start", second))).isEqualTo(Timeouts.DEFAULT);
  }

  @Test
  void anEngineRebuiltSinceParityIsRefused() {
    try (Journal journal = journal()) {
      assertThatExceptionOfType(RunException.class)
          .isThrownBy(() -> runFork(journal, provedBuild("0")))
          .withMessage(
              "a/x was rebuilt since this run began (build 1 where 0 was measured or proved): two"
                  + " builds can't stand in one cell; start a new run");
      assertThat(journal.entries()).isEmpty();
    }
  }

  @Test
  void anEngineRebuiltBeforeTheRunWentOnIsRefusedThoughParityIsOfTheNewBuild() {
    try (Journal journal = journal()) {
      journal.add(TestData.forkStart(1, 1, "a/x/pp512", 1, false));

      assertThatExceptionOfType(RunException.class)
          .isThrownBy(() -> runFork(journal, provedBuild("1")))
          .withMessageContaining("build 1 where b1 was measured");
    }
  }

  @Test
  void theBuildOfAnotherLabelIsNoConcern() {
    try (Journal journal = journal()) {
      journal.add(TestData.forkStart(1, 1, "a/pp512", 1, false));

      runFork(journal, provedBuild("1"));

      assertThat(journal.entries()).hasSizeGreaterThan(2);
    }
  }

  /** A program that asks while it runs and while it ends. */
  static final class Ending {
    private Ending() {}

    public static void main(String[] args) {
      Runtime.getRuntime()
          .addShutdownHook(new Thread(() -> System.out.println(ForkRunner.shuttingDown())));
      System.out.println(ForkRunner.shuttingDown());
    }
  }

  @Test
  void theLabKnowsWhenItIsEnding() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Ending.class.getName())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(output.lines()).containsExactly("false", "true");
  }

  @Test
  void moreTrialsThanPromptsTakeThemInTurn() {
    assertThat(ForkRunner.trialPrompt(1, 10, 9, PROMPTS)).isEqualTo(1);
    assertThat(ForkRunner.warmUpPrompt(1, 10, 3, PROMPTS)).isEqualTo(3);
  }
}
