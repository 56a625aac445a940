package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Journal;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A run that is killed at random moments loses no finished trial, leaves no worker behind, and goes
 * on when it is resumed.
 */
final class InterruptionTest {
  private static final int LONGEST_LIFE_MILLIS = 9_000;

  @TempDir private Path folder;

  @Test
  void aRunKilledTwiceLosesNothing() throws Exception {
    survives(2, Duration.ofMinutes(3));
  }

  @Test
  @Tag("soak")
  void aRunKilledAHundredTimesLosesNothing() throws Exception {
    // The last run has most blocks to make up for, and the whole budget for it.
    survives(100, Duration.ofMinutes(12));
  }

  private void survives(int kills, Duration patience) throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    Path model = fixture();
    List<String> begin =
        List.of(
            "compare",
            "--model",
            model.toString(),
            "-e",
            "steelyard",
            "-e",
            "steelyard:tier=reference,label=oracle",
            "--baseline",
            "oracle",
            "--metrics",
            "prefill,decode",
            "--prompt",
            "64",
            "--gen",
            "16",
            "--forks",
            // So many that the run isn't over before the last kill.
            Integer.toString(Math.max(3, kills / 4)),
            "--budget",
            "10m");
    List<Entry> before = List.of();
    List<String> command = begin;
    for (int kill = 0; kill < kills; kill++) {
      Process coordinator = start(command);
      boolean ended =
          coordinator.waitFor(random.nextInt(LONGEST_LIFE_MILLIS), TimeUnit.MILLISECONDS);
      if (!ended && random.nextBoolean()) {
        workers().forEach(worker -> worker.destroyForcibly());
        coordinator.waitFor(random.nextInt(LONGEST_LIFE_MILLIS), TimeUnit.MILLISECONDS);
      }
      coordinator.destroyForcibly().waitFor();
      assertThat(noWorkerIsLeft()).as("no worker outlives its coordinator; seed %d", seed).isTrue();
      if (run() == null || Files.notExists(run().resolve("trials.jsonl"))) {
        continue;
      }
      List<Entry> after = journal(run());
      assertThat(after.subList(0, before.size())).as("seed %d", seed).isEqualTo(before);
      before = after;
      command = List.of("resume", run().toString());
    }
    if (run() != null) {
      command = List.of("resume", run().toString());
    }
    Process last = start(command);
    assertThat(last.waitFor(patience.toSeconds(), TimeUnit.SECONDS)).isTrue();

    assertThat(last.exitValue()).as(output() + " seed " + seed).isZero();
    assertThat(journal(run()).subList(0, before.size())).isEqualTo(before);
    assertThat(Files.readString(run().resolve("summary.json"))).doesNotContain("\"failed\"");
  }

  /** Whole lines only: what a kill cut off was no finished trial. */
  private static List<Entry> journal(Path run) {
    return Journal.read(run.resolve("trials.jsonl"));
  }

  private Process start(List<String> arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(Main.class.getName());
    command.addAll(arguments);
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.environment().put("STEELYARD_CACHE", folder.resolve("cache").toString());
    File log = folder.resolve("output.txt").toFile();
    return builder
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(log))
        .start();
  }

  private String output() throws IOException {
    return Files.readString(folder.resolve("output.txt"));
  }

  private Path run() throws IOException {
    Path runs = folder.resolve("runs");
    if (Files.notExists(runs)) {
      return null;
    }
    try (Stream<Path> all = Files.list(runs)) {
      return all.filter(path -> Files.exists(path.resolve("plan.json"))).findFirst().orElse(null);
    }
  }

  private Path fixture() throws IOException {
    Path file = folder.resolve("tiny.gguf");
    try (InputStream in = InterruptionTest.class.getResourceAsStream("llama-tied.gguf")) {
      Files.copy(in, file);
    }
    return file;
  }

  /**
   * Workers whose scratch lies in this JVM's temporary folder belong to some test of this build.
   */
  private Stream<ProcessHandle> workers() {
    return ProcessHandle.allProcesses()
        .filter(
            process ->
                process.info().commandLine().orElse("").contains("worker.WorkerMain")
                    && inThisTest(process));
  }

  private boolean inThisTest(ProcessHandle process) {
    try {
      String environment = Files.readString(Path.of("/proc/" + process.pid() + "/environ"));
      return environment.contains("STEELYARD_CACHE=" + folder.resolve("cache"));
    } catch (IOException e) {
      return false; // it has ended
    }
  }

  private boolean noWorkerIsLeft() throws InterruptedException {
    long deadline = System.nanoTime() + Duration.ofSeconds(5).toNanos();
    while (System.nanoTime() < deadline) {
      if (workers().findAny().isEmpty()) {
        return true;
      }
      Thread.sleep(50);
    }
    return false;
  }
}
