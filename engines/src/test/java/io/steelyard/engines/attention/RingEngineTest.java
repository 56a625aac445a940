package io.steelyard.engines.attention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.steelyard.engines.attention.RingProblem.Count;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.lab.benchmark.BenchmarkProtocol;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.KernelReport;
import io.steelyard.lab.worker.KernelRequest;
import io.steelyard.lab.worker.LoadRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Attention over real processes: it is exact, it counts, and it ends whatever happens to a rank.
 */
final class RingEngineTest {
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  @TempDir private Path folder;

  @BeforeEach
  void needsLinux() {
    assumeTrue(
        System.getProperty("os.name").equals("Linux"), "not applicable here: workers need Linux");
  }

  private static RingProblem problem(
      int heads, int kvHeads, int batch, boolean causal, DataType type, int ranks, boolean zigzag) {
    return new RingProblem(
        new AttentionProblem(
            heads, kvHeads, 64, batch, 0, causal, type, Kernels.best(), 2, true, true),
        "ring",
        1,
        ranks,
        zigzag,
        PATIENCE);
  }

  private static RingEngine load(RingProblem problem) throws EngineException {
    RingEngine engine = new RingEngine();
    var _ = engine.load(new LoadRequest("", 2, 1, "f16", false, problem.options()));
    return engine;
  }

  private static KernelReport prove(RingEngine engine, String length) throws EngineException {
    return engine.kernel(
        new KernelRequest(
            length, Map.of(BenchmarkProtocol.PROVE, 1L, BenchmarkProtocol.OPERATIONS, 1L), 0));
  }

  private static void assertExact(RingEngine engine, RingProblem problem, String... lengths)
      throws EngineException {
    for (String length : lengths) {
      KernelReport report = prove(engine, length);
      Map<String, Long> counts = report.counts().orElseThrow();
      assertThat(report.error()).as("%s at %s: %s", problem, length, counts).isZero();
      assertThat(counts.get("sent_bytes")).isEqualTo(counts.get("predicted_bytes"));
      long received = 0;
      for (int rank = 0; rank < problem.ranks(); rank++) {
        received += counts.get(Count.RECEIVED_BYTES.of(rank));
        assertThat(counts.get(Count.COMPUTE_NANOS.of(rank))).isPositive();
      }
      assertThat(received).isEqualTo(counts.get("sent_bytes"));
    }
  }

  @Test
  void zigzagOverTwoProcessesIsExactAtLengthsThatAreNoMultiples() throws Exception {
    RingProblem problem = problem(4, 2, 2, true, DataType.F32, 2, true);
    List<Long> pids;
    try (RingEngine engine = load(problem)) {
      assertExact(engine, problem, "7", "131", "517");
      pids = engine.pids();
    }
    assertEnded(pids);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 4})
  @Tag("soak")
  void aQuarterOfAMillionPositionsAreExactAndBalanced(int ranks) throws Exception {
    RingProblem problem = problem(1, 1, 1, true, DataType.F32, ranks, true);
    try (RingEngine engine = load(problem)) {
      KernelReport report = prove(engine, "256K");
      Map<String, Long> counts = report.counts().orElseThrow();
      System.out.println(counts);
      assertThat(report.error()).as("%s", counts).isZero();
      assertThat(counts.get("values_compared")).isEqualTo(256 * 1024 * 64L);
      assertThat(counts.get("rows_checked")).isEqualTo(64);
      assertThat(counts.get("sent_bytes")).isEqualTo(counts.get("predicted_bytes"));
      double mean = (double) counts.get("scores") / ranks;
      for (int rank = 0; rank < ranks; rank++) {
        assertThat(counts.get(Count.SCORES.of(rank)) / mean).isBetween(0.95, 1.05);
      }
    }
  }

  @Test
  void threeProcessesAreExactUntilOneIsKilledWhichIsNamed() throws Exception {
    RingProblem problem = problem(3, 1, 1, false, DataType.BF16, 3, false);
    try (RingEngine engine = load(problem)) {
      assertExact(engine, problem, "100", "317");
      List<Long> pids = engine.pids();
      Thread killer =
          Thread.ofPlatform()
              .start(
                  () -> {
                    LockSupport.parkNanos(30_000_000);
                    ProcessHandle.of(pids.get(1)).ifPresent(ProcessHandle::destroyForcibly);
                  });
      assertThatThrownBy(
              () -> {
                while (true) {
                  var _ = prove(engine, "1K");
                }
              })
          .isInstanceOf(EngineException.class)
          .hasMessageContaining(
              "'rank 1 of 3' (process " + pids.get(1) + ") was killed by SIGKILL");
      killer.join();
      assertEnded(pids);
      assertThatThrownBy(() -> prove(engine, "1K")).hasMessageContaining("was killed by SIGKILL");
    }
  }

  /** In a pass its neighbour waits for it; a new shard it makes alone. */
  @ParameterizedTest
  @CsvSource({"64,for 0.5 s", "80,long after the others"})
  void aRankThatHangsIsNamedAndAllEnd(String length, String said) throws Exception {
    RingProblem hasty =
        new RingProblem(
            problem(3, 3, 1, true, DataType.F32, 2, false).problem(),
            "ring-dilated-v3:segments=16/50/64,rates=1/2/3",
            1,
            2,
            false,
            Duration.ofMillis(500));
    try (RingEngine engine = load(hasty)) {
      assertExact(engine, hasty, "64");
      List<Long> pids = engine.pids();
      assertThat(new ProcessBuilder("kill", "-STOP", pids.get(1).toString()).start().waitFor())
          .isZero();
      assertThatThrownBy(() -> prove(engine, length))
          .isInstanceOf(EngineException.class)
          .hasMessageContaining("rank 1 (process " + pids.get(1) + ") gave no answer")
          .hasMessageContaining(said);
      assertEnded(pids);
    }
  }

  @Test
  void noRankOutlivesItsCoordinator() throws Exception {
    Path log = folder.resolve("coordinator.txt");
    Process coordinator =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Xmx128m",
                "-cp",
                System.getProperty("java.class.path"),
                Coordinator.class.getName())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    while (coordinator.isAlive() && !Files.readString(log).contains("passing")) {
      LockSupport.parkNanos(5_000_000);
    }
    String[] said = Files.readString(log).split("\\D+");
    assertThat(said).as(Files.readString(log)).hasSize(3);
    coordinator.destroyForcibly().waitFor();
    assertEnded(List.of(Long.parseLong(said[1]), Long.parseLong(said[2])));
  }

  /** A coordinator to be killed in the middle of a pass. */
  static final class Coordinator {
    private Coordinator() {}

    public static void main(String[] arguments) throws Exception {
      RingEngine engine = load(problem(8, 8, 1, true, DataType.F32, 2, true));
      System.out.print("ranks");
      engine.pids().forEach(pid -> System.out.print(" " + pid));
      System.out.println(" passing");
      while (true) {
        var _ =
            engine.kernel(new KernelRequest("8K", Map.of(BenchmarkProtocol.OPERATIONS, 1000L), 0));
      }
    }
  }

  private static void assertEnded(List<Long> pids) throws Exception {
    for (long pid : pids) {
      var process = ProcessHandle.of(pid);
      if (process.isPresent()) {
        process.get().onExit().get(10, TimeUnit.SECONDS);
      }
    }
  }
}
