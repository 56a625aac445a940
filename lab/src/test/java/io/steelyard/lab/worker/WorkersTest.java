package io.steelyard.lab.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.lab.study.Study;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WorkersTest {
  private final Workers workers =
      new Workers(
          new Study.Model("m", "m.gguf", "", false, 1),
          new Study.Settings(2, 512, "f16", true, ""),
          EngineRegistry.system(),
          Path::of,
          Path.of("scratch"));

  @Test
  void optionsStandForSettings() {
    assertThat(
            workers.request(
                Map.of("threads", "1", "context", "64", "kv", "f32", "flash", "off", "env.A", "b")))
        .isEqualTo(new LoadRequest("m.gguf", 1, 64, "f32", false, Map.of()));
  }

  @Test
  void leavesValuesThatTheSettingsCannotHaveToTheEngine() {
    Map<String, String> own = Map.of("kv", "q4_0", "flash", "auto", "tier", "vector");
    assertThat(workers.request(own)).isEqualTo(new LoadRequest("m.gguf", 2, 512, "f16", true, own));
  }
}
