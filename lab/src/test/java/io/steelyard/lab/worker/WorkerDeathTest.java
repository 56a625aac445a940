package io.steelyard.lab.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.steelyard.lab.worker.WorkerException.Kind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Workers and coordinators that are killed: what is left says why, and nothing is left behind. */
class WorkerDeathTest {
  private static final long SEED = 20_260_102;

  @TempDir private Path folder;

  @BeforeEach
  void needsLinux() {
    assumeTrue(
        System.getProperty("os.name").equals("Linux"), "not applicable here: workers need Linux");
  }

  @Test
  void aWorkerKilledInACallIsReportedByItsSignal() throws Exception {
    killWorkers(3);
  }

  @Test
  @Tag("soak")
  void aWorkerKilledAtThirtyRandomMomentsIsReportedByItsSignal() throws Exception {
    killWorkers(30);
  }

  private void killWorkers(int count) throws Exception {
    Random random = new Random(SEED);
    WorkerCommand command = EngineRegistry.of(folder).command(EngineSpec.parse("test"));
    for (int i = 0; i < count; i++) {
      long delay = random.nextInt(50_000_000);
      try (WorkerProcess worker =
          WorkerProcess.start(command, folder.resolve("stderr"), folder, Timeouts.DEFAULT)) {
        worker.load(new LoadRequest("m", 1, 64, "f16", true, Map.of()));
        Thread killer =
            Thread.ofPlatform()
                .start(
                    () -> {
                      LockSupport.parkNanos(delay);
                      ProcessHandle.of(worker.pid()).ifPresent(ProcessHandle::destroyForcibly);
                    });
        WorkerException e = catchThrowableOfType(WorkerException.class, () -> callForEver(worker));
        assertThat(e.kind()).as("seed %d, kill %d", SEED, i).isEqualTo(Kind.DIED);
        assertThat(e).hasMessageContaining("was killed by SIGKILL, perhaps because memory ran out");
        killer.join();
        assertThat(Processes.ended(worker.pid())).isTrue();
      }
    }
  }

  private static void callForEver(WorkerProcess worker) throws WorkerException, IOException {
    while (true) {
      worker.decode(DecodeRequest.greedy(new int[] {1, 2}, 20, true), TokenListener.NONE);
      worker.logits(new int[] {1, 2, 3}).value().close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"KILL", "TERM", "INT"})
  void noWorkerOutlivesItsCoordinator(String signal) throws Exception {
    assumeTrue(
        Files.isExecutable(Path.of("/usr/bin/setpriv")),
        "setpriv of util-linux is not installed: a worker deaf to the end of its input lives on");
    Path log = folder.resolve("coordinator.txt");
    Process coordinator =
        new ProcessBuilder(
                // A shell's background jobs ignore interrupts, and so would what they start.
                "/usr/bin/env",
                "--default-signal=INT",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Xmx128m",
                "-cp",
                System.getProperty("java.class.path"),
                Coordinator.class.getName(),
                folder.toString())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    String[] pids = Processes.awaitText(log, "workers( \\d+)+\\.").split("\\D+", -1);
    assertThat(pids).hasSize(2 + Coordinator.WORKERS);
    // All are busy: the JVM in a call that never ends, the shell deaf to everything.
    Processes.awaitText(folder.resolve("stderr-0"), "waiting");
    assertThat(
            new ProcessBuilder("/bin/sh", "-c", "kill -" + signal + " " + coordinator.pid())
                .start()
                .waitFor())
        .isZero();
    coordinator.waitFor();
    for (int i = 1; i <= Coordinator.WORKERS; i++) {
      assertThat(Processes.ended(Long.parseLong(pids[i]))).as("worker %d", i).isTrue();
    }
  }

  @Test
  void aWorkerSeesTheEndOfItsInputInTheMiddleOfACall() throws Exception {
    WorkerCommand command = EngineRegistry.of(folder).command(EngineSpec.parse("test"));
    Path stderr = folder.resolve("stderr");
    // Not through WorkerProcess: nothing but the worker's own watch may end it.
    Process worker =
        new ProcessBuilder(command.command())
            .redirectError(stderr.toFile())
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    worker
        .getOutputStream()
        .write(Wire.request(1, "kernel", new KernelRequest("wait", Map.of(), 0)));
    worker.getOutputStream().flush();
    Processes.awaitText(stderr, "waiting");
    worker.getOutputStream().close();
    assertThat(Processes.ended(worker.pid())).isTrue();
  }

  @Test
  void requestsThatWereSentBeforeTheEndOfInputAreAnswered() throws Exception {
    WorkerCommand command = EngineRegistry.of(folder).command(EngineSpec.parse("test"));
    Path input = folder.resolve("input");
    Path output = folder.resolve("output");
    Files.writeString(input, "{\"id\":1,\"call\":\"hello\"}\n{\"id\":2,\"call\":\"memory\"}\n");
    Process worker =
        new ProcessBuilder(command.command())
            .redirectInput(input.toFile())
            .redirectOutput(output.toFile())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    assertThat(worker.waitFor()).isZero();
    List<String> answers = Files.readAllLines(output);
    assertThat(answers).hasSize(2);
    assertThat(answers.getLast()).isEqualTo("{\"id\":2,\"ok\":{\"parts\":{}}}");
  }

  /** A coordinator to be killed: one worker in a call, one deaf, one idle. */
  static final class Coordinator {
    static final int WORKERS = 3;

    private Coordinator() {}

    public static void main(String[] arguments) throws Exception {
      Path folder = Path.of(arguments[0]);
      WorkerCommand test = EngineRegistry.of(folder).command(EngineSpec.parse("test"));
      String hello =
          "read line; echo '{\"id\":1,\"ok\":{\"engine\":\"e\",\"version\":\"1\",\"backend\":\"b\","
              + "\"libraries\":[],\"precisions\":[],\"capabilities\":[],\"hosted\":false,"
              + "\"build\":\"1\"}}'; trap '' TERM HUP INT PIPE; while true; do sleep 1; done";
      WorkerCommand deaf = new WorkerCommand("deaf", List.of("/bin/sh", "-c", hello), Map.of(), "");
      WorkerProcess busy =
          WorkerProcess.start(test, folder.resolve("stderr-0"), folder, Timeouts.DEFAULT);
      WorkerProcess second =
          WorkerProcess.start(deaf, folder.resolve("stderr-1"), folder, Timeouts.DEFAULT);
      WorkerProcess idle =
          WorkerProcess.start(test, folder.resolve("stderr-2"), folder, Timeouts.DEFAULT);
      System.out.println("workers " + busy.pid() + " " + second.pid() + " " + idle.pid() + ".");
      busy.kernel(new KernelRequest("wait", Map.of(), 0));
    }
  }
}
