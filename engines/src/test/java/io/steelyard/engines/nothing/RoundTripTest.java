package io.steelyard.engines.nothing;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.lab.worker.EngineRegistry;
import io.steelyard.lab.worker.EngineSpec;
import io.steelyard.lab.worker.LoadRequest;
import io.steelyard.lab.worker.PrefillRequest;
import io.steelyard.lab.worker.Timeouts;
import io.steelyard.lab.worker.WorkerProcess;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the lab itself adds to a call. */
class RoundTripTest {
  private static final int CALLS = 20_000;

  @Test
  @Tag("soak")
  void aCallOfTheNullEngineIsBackInWellUnderATenthOfAMillisecond(@TempDir Path folder)
      throws Exception {
    EngineSpec spec = EngineSpec.parse("null");
    try (WorkerProcess worker =
        WorkerProcess.start(
            EngineRegistry.of(folder).command(spec),
            folder.resolve("stderr.txt"),
            folder,
            Timeouts.DEFAULT)) {
      worker.load(new LoadRequest("none", 1, 512, "f16", true, Map.of()));
      PrefillRequest request = new PrefillRequest(new int[] {1, 2, 3}, 0);
      long[] nanos = new long[CALLS];
      for (int i = 0; i < CALLS; i++) {
        nanos[i] = worker.prefill(request).outsideNanos();
      }
      long[] warm = Arrays.copyOfRange(nanos, CALLS / 2, CALLS);
      Arrays.sort(warm);
      System.out.printf(
          "round trip: median %.1f us, 99th percentile %.1f us; worker ready after %.0f ms%n",
          warm[warm.length / 2] / 1e3,
          warm[warm.length * 99 / 100] / 1e3,
          (worker.readyNanos() - worker.startedNanos()) / 1e6);
      assertThat(warm[warm.length / 2]).isLessThan(200_000);
    }
  }
}
