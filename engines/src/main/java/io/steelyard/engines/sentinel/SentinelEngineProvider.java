package io.steelyard.engines.sentinel;

import io.steelyard.lab.worker.Engine;
import io.steelyard.lab.worker.EngineProvider;
import java.util.List;
import java.util.Map;

/** Makes the engine {@code sentinel} known. */
public final class SentinelEngineProvider implements EngineProvider {
  @Override
  public String name() {
    return "sentinel";
  }

  @Override
  public String description() {
    return "runs no model: fixed compute and bandwidth work that shows a disturbed machine";
  }

  @Override
  public List<String> options() {
    return List.of();
  }

  @Override
  public List<String> jvmFlags(Map<String, String> options) {
    // Huge pages take the luck of page placement out of the bandwidth's time.
    return List.of("-Xmx512m", "-XX:+UseTransparentHugePages");
  }

  @Override
  public Engine create() {
    return new SentinelEngine();
  }
}
