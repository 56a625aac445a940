package io.steelyard.engines.attention;

import io.steelyard.lab.worker.Engine;
import io.steelyard.lab.worker.EngineProvider;
import java.util.List;
import java.util.Map;

/** Makes the engine {@code attention-ring} known. */
public final class RingEngineProvider implements EngineProvider {
  @Override
  public String name() {
    return RingProblem.ENGINE;
  }

  @Override
  public String description() {
    return "runs no model: attention over processes, by './steelyard attention ring'";
  }

  @Override
  public List<String> options() {
    return List.of();
  }

  @Override
  public List<String> jvmFlags(Map<String, String> options) {
    return new AttentionEngineProvider().jvmFlags(options);
  }

  @Override
  public Engine create() {
    return new RingEngine();
  }
}
