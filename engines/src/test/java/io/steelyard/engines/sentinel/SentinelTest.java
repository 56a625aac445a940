package io.steelyard.engines.sentinel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineRegistry;
import io.steelyard.lab.worker.EngineSpec;
import io.steelyard.lab.worker.KernelRequest;
import io.steelyard.lab.worker.Timeouts;
import io.steelyard.lab.worker.WorkerProcess;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SentinelTest {
  private static KernelRequest request(String name, Map<String, Long> shape) {
    return new KernelRequest(name, shape, 0);
  }

  @Test
  void bothWorksAreTimedAndGiveTheSameResultEachTime() throws EngineException {
    try (SentinelEngine sentinel = new SentinelEngine()) {
      for (String name : new String[] {"compute", "bandwidth"}) {
        assertThat(sentinel.kernel(request(name, Map.of("repetitions", 1L))).nanos())
            .as(name)
            .isPositive();
      }
    }
  }

  @Test
  void anUnknownWorkOrSizeIsRefused() {
    try (SentinelEngine sentinel = new SentinelEngine()) {
      assertThatThrownBy(() -> sentinel.kernel(request("matmul", Map.of())))
          .hasMessageContaining("no kernel 'matmul'");
      assertThatThrownBy(() -> sentinel.kernel(request("compute", Map.of("threads", 0L))))
          .hasMessageContaining("threads is 0");
    }
  }

  /** What the sentinel's times are worth on this machine; printed, since a busy one spoils them. */
  @Test
  @Tag("soak")
  void freshSentinelsAreMeasured(@TempDir Path folder) throws Exception {
    int forks = 6;
    for (String name : new String[] {"compute", "bandwidth"}) {
      double[] millis = new double[forks];
      for (int i = 0; i < forks; i++) {
        try (WorkerProcess worker =
            WorkerProcess.start(
                EngineRegistry.of(folder).command(EngineSpec.parse("sentinel")),
                folder.resolve("stderr"),
                folder,
                Timeouts.DEFAULT)) {
          millis[i] = worker.kernel(request(name, Map.of())).value().nanos() / 1e6;
        }
      }
      System.out.println("sentinel " + name + " in ms: " + Arrays.toString(millis));
      assertThat(Arrays.stream(millis).min().orElse(0)).isGreaterThan(1);
    }
  }
}
