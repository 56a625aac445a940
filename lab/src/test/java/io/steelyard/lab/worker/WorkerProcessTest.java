package io.steelyard.lab.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.steelyard.lab.worker.WorkerException.Kind;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A JVM worker as it should be. */
class WorkerProcessTest {
  private static final int[] PROMPT = {3, 1, 4, 1, 5};

  @TempDir private Path folder;
  private Path stderr;

  @BeforeEach
  void needsLinux() {
    assumeTrue(
        System.getProperty("os.name").equals("Linux"), "not applicable here: workers need Linux");
    stderr = folder.resolve("logs/stderr.txt");
  }

  private WorkerProcess start(String cpus) throws Exception {
    WorkerCommand command = EngineRegistry.of(folder).command(EngineSpec.parse("test"));
    return WorkerProcess.start(
        command.onCpus(cpus), stderr, folder.resolve("scratch"), Timeouts.DEFAULT);
  }

  private WorkerProcess loaded() throws Exception {
    WorkerProcess worker = start("");
    worker.load(new LoadRequest("m", 1, 64, "f16", true, Map.of()));
    return worker;
  }

  private static KernelRequest kernel(String name) {
    return new KernelRequest(name, Map.of(), 1);
  }

  @Test
  void compilersGiveWayToTheEngine() throws Exception {
    try (WorkerProcess worker = loaded();
        Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(worker.pid()), "task"))) {
      List<Integer> niceness = new ArrayList<>();
      for (Path thread : threads.toList()) {
        if (Files.readString(thread.resolve("comm")).contains("CompilerThre")) {
          String stat = Files.readString(thread.resolve("stat"));
          // The 19th field of proc(5); the second is a name in parentheses.
          niceness.add(Integer.valueOf(stat.substring(stat.indexOf(") ") + 2).split(" ", -1)[16]));
        }
      }
      assertThat(niceness).isNotEmpty().allMatch(nice -> nice > 0);
    }
  }

  @Test
  void logitsComePositionByPosition() throws Exception {
    // More than a pipe holds, so that the worker waits for the reader.
    int[] ids = new int[1000];
    Arrays.setAll(ids, i -> i % TestEngine.VOCABULARY);
    try (WorkerProcess worker = start("")) {
      worker.load(new LoadRequest("m", 1, ids.length, "f16", true, Map.of()));
      try (LogitsStream rows = worker.logits(ids, TestEngine.VOCABULARY)) {
        for (int id : ids) {
          assertThat(floats(rows.next())).isEqualTo(TestEngine.row(id));
        }
      }
      // Who has read enough may close it, and the worker serves on.
      try (LogitsStream rows = worker.logits(ids, TestEngine.VOCABULARY)) {
        assertThat(floats(rows.next())).isEqualTo(TestEngine.row(ids[0]));
      }
      try (LogitsStream rows = worker.logits(new int[ids.length + 1], TestEngine.VOCABULARY)) {
        assertThatThrownBy(rows::next)
            .isInstanceOf(WorkerException.class)
            .hasMessageContaining("context");
      }
      assertThat(worker.prefill(new PrefillRequest(PROMPT, 2)).value().argmax())
          .isEqualTo(TestEngine.likeliest(5));
      try (LogitsStream rows = worker.logits(PROMPT, 2 * TestEngine.VOCABULARY)) {
        assertThatThrownBy(
                () -> {
                  while (true) {
                    var _ = rows.next();
                  }
                })
            .isInstanceOf(WorkerException.class)
            .hasMessageContaining("not all of them in its file, or more");
      }
    }
  }

  private static float[] floats(MemorySegment row) {
    return row.toArray(ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN));
  }

  @Test
  void everyCallGivesWhatTheEngineGave() throws Exception {
    try (WorkerProcess worker = start("")) {
      assertThat(worker.info().engine()).isEqualTo("test");
      assertThat(worker.readyNanos()).isGreaterThan(worker.startedNanos());
      LoadReport load = worker.load(new LoadRequest("m", 1, 64, "f16", true, Map.of())).value();
      assertThat(load.settings().vocabulary()).isEqualTo(TestEngine.VOCABULARY);
      assertThat(worker.tokenize("ab", false).value()).containsExactly(97 % 53, 98 % 53);

      Timed<PrefillReport> prefill = worker.prefill(new PrefillRequest(PROMPT, 2));
      assertThat(prefill.value().argmax()).isEqualTo(TestEngine.likeliest(5));
      assertThat(prefill.outsideNanos()).isPositive();

      try (FloatRows rows = worker.logits(PROMPT).value()) {
        assertThat(rows.rows()).isEqualTo(PROMPT.length);
        assertThat(rows.width()).isEqualTo(TestEngine.VOCABULARY);
        for (int i = 0; i < PROMPT.length; i++) {
          assertThat(rows.row(i)).isEqualTo(TestEngine.row(PROMPT[i]));
        }
        assertThat(rows.at(1, 7)).isEqualTo(TestEngine.row(PROMPT[1])[7]);
      }
      WorkerProcess.Layers layers = worker.layers(PROMPT).value();
      try (FloatRows rows = layers.rows()) {
        assertThat(layers.names()).containsExactly("embedding", "layer 0");
        assertThat(layers.positions()).isEqualTo(PROMPT.length);
        assertThat(rows.rows()).isEqualTo(2L * PROMPT.length);
      }
      List<Integer> told = new ArrayList<>();
      DecodeRequest streaming =
          new DecodeRequest(PROMPT, 6, DecodeRequest.Sampling.GREEDY, true, true, List.of());
      DecodeReport decode = worker.decode(streaming, told::add).value();
      assertThat(decode.ids()).hasSize(6);
      assertThat(told).isEqualTo(Arrays.stream(decode.ids()).boxed().toList());
      assertThat(worker.forward(new ForwardRequest(new int[][] {PROMPT, PROMPT})).value().nanos())
          .isEqualTo(1);
      assertThat(worker.kernel(kernel("nothing")).value()).isEqualTo(new KernelReport(1, 0));
      assertThat(worker.memory().value()).isEqualTo(MemoryReport.unknown());
      worker.reset();
    }
    try (var scratch = Files.list(folder.resolve("scratch"))) {
      assertThat(scratch).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"memory", "recursion", "throw", "no such"})
  void whateverGoesWrongInACallTheWorkerGoesOn(String name) throws Exception {
    try (WorkerProcess worker = loaded()) {
      WorkerException e =
          catchThrowableOfType(WorkerException.class, () -> worker.kernel(kernel(name)));
      assertThat(e.kind()).isEqualTo(Kind.REFUSED);
      assertThat(e.unsupported()).isEqualTo(name.equals("no such"));
      assertThat(worker.prefill(new PrefillRequest(PROMPT, 0)).value().argmax())
          .isEqualTo(TestEngine.likeliest(5));
    }
  }

  @Test
  void requestsAreCheckedBeforeTheEngineSeesThem() throws Exception {
    try (WorkerProcess worker = start("")) {
      assertThatThrownBy(() -> worker.prefill(new PrefillRequest(PROMPT, 0)))
          .hasMessageContaining("no model is loaded");
      worker.load(new LoadRequest("m", 1, 6, "f16", true, Map.of()));
      assertThatThrownBy(() -> worker.prefill(new PrefillRequest(new int[] {53}, 0)))
          .hasMessage("token id 53 at position 0 is outside the vocabulary of 53");
      assertThatThrownBy(() -> worker.prefill(new PrefillRequest(PROMPT, 5)))
          .hasMessageContaining("depth is 5, must be from 0 to 4");
      assertThatThrownBy(
              () -> worker.decode(DecodeRequest.greedy(PROMPT, 3, false), TokenListener.NONE))
          .hasMessageContaining("needs 7 positions, the context holds 6");
      assertThat(
              worker
                  .decode(DecodeRequest.greedy(PROMPT, 2, false), TokenListener.NONE)
                  .value()
                  .ids())
          .hasSize(2);
      assertThatThrownBy(() -> worker.load(new LoadRequest("m", 0, 6, "f16", true, Map.of())))
          .hasMessageContaining("threads is 0");
    }
  }

  @Test
  void whatTheEngineAndItsLibrariesPrintGoesToTheLog() throws Exception {
    try (WorkerProcess worker = start("")) {
      worker.kernel(kernel("print"));
      worker.kernel(kernel("print-natively"));
    }
    assertThat(stderr).content().contains("chatter of the engine", "chatter of a library");
  }

  @Test
  void aWorkerThatEndsSaysHow() throws Exception {
    try (WorkerProcess worker = start("")) {
      WorkerException e =
          catchThrowableOfType(WorkerException.class, () -> worker.kernel(kernel("exit")));
      assertThat(e.kind()).isEqualTo(Kind.DIED);
      assertThat(e).hasMessageContaining("exited with code 7 during 'kernel'");
      assertThatThrownBy(worker::memory)
          .hasMessageContaining("'memory' can't be called")
          .hasMessageContaining("exited with code 7");
    }
  }

  @Test
  void childrenOfTheEngineEndWithIt() throws Exception {
    ProcessHandle child;
    try (WorkerProcess worker = start("")) {
      worker.kernel(kernel("child"));
      child = child(stderr);
      assertThat(child.isAlive()).isTrue();
    }
    assertThat(Processes.ended(child)).isTrue();
  }

  @Test
  void aCallThatTakesTooLongIsEndedWithEverythingThatItStarted() throws Exception {
    WorkerCommand command = EngineRegistry.of(folder).command(EngineSpec.parse("test"));
    Timeouts timeouts = Timeouts.DEFAULT.withCall(Duration.ofSeconds(2));
    try (WorkerProcess worker = WorkerProcess.start(command, stderr, folder, timeouts)) {
      worker.kernel(kernel("child"));
      ProcessHandle child = child(stderr);
      WorkerException e =
          catchThrowableOfType(WorkerException.class, () -> worker.kernel(kernel("wait")));
      assertThat(e.kind()).isEqualTo(Kind.TIMED_OUT);
      assertThat(e)
          .hasMessageContaining("no answer to 'kernel' in 2 s")
          .hasMessageContaining("waiting");
      assertThat(Processes.ended(child)).isTrue();
      assertThat(Processes.ended(worker.pid())).isTrue();
    }
  }

  @Test
  void closingFromAnotherThreadEndsTheCallThatRuns() throws Exception {
    WorkerProcess worker = start("");
    Thread closer =
        Thread.ofPlatform()
            .start(
                () -> {
                  Processes.awaitText(stderr, "waiting");
                  worker.close();
                });
    assertThatThrownBy(() -> worker.kernel(kernel("wait"))).isInstanceOf(WorkerException.class);
    closer.join();
    assertThat(Processes.ended(worker.pid())).isTrue();
  }

  @Test
  void theProcessorsAreThoseAskedFor() throws Exception {
    try (WorkerProcess worker = start("0")) {
      assertThat(Files.readString(Path.of("/proc", Long.toString(worker.pid()), "status")))
          .containsPattern("Cpus_allowed_list:\\s+0\n");
      assertThat(Affinity.current()).matches("\\d+([-,]\\d+)*");
    }
  }

  @Test
  void processorsThatDoNotExistAreReported() {
    WorkerException e = catchThrowableOfType(WorkerException.class, () -> start("4095"));
    assertThat(e.kind()).isEqualTo(Kind.DIED);
    assertThat(e).hasMessageContaining("taskset");
    assertThatThrownBy(() -> start("0;1")).hasMessageContaining("no list of processors");
  }

  @Test
  void memoryAndCountersAreTheProcesssOwn() throws Exception {
    try (WorkerProcess worker = start("")) {
      MachineCounters before = MachineCounters.read(worker.pid());
      ProcessMemory memory = worker.processMemory();
      assertThat(memory.resident()).isBetween(10L << 20, 500L << 20);
      assertThat(memory.peak()).isGreaterThanOrEqualTo(memory.resident());
      assertThat(memory.proportional()).isBetween(1L << 20, memory.peak());
      try (ResidentSampler sampler = ResidentSampler.start(worker.pid(), Duration.ofMillis(1))) {
        while (sampler.count() < 3) {
          worker.memory();
        }
        assertThat(sampler.average()).isBetween(10L << 20, 500L << 20);
      }
      MachineCounters during = MachineCounters.read(worker.pid()).since(before);
      assertThat(during.voluntarySwitches()).isPositive();
      assertThat(during.stealShare()).isBetween(0.0, 1.0);
    }
    assertThatThrownBy(() -> ProcessMemory.read(Integer.MAX_VALUE))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("has ended");
  }

  private static ProcessHandle child(Path log) {
    String text = Processes.awaitText(log, "child \\d+\\.");
    return ProcessHandle.of(Long.parseLong(text.replaceAll("\\D", ""))).orElseThrow();
  }
}
