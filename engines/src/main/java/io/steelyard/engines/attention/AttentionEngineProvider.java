package io.steelyard.engines.attention;

import io.steelyard.kernels.Tier;
import io.steelyard.lab.worker.Engine;
import io.steelyard.lab.worker.EngineProvider;
import java.util.List;
import java.util.Map;

/** Makes the engine {@code attention} known. */
public class AttentionEngineProvider implements EngineProvider {
  @Override
  public String name() {
    return AttentionProblem.ENGINE;
  }

  @Override
  public String description() {
    return "runs no model: variants of attention, by './steelyard attention'";
  }

  @Override
  public List<String> options() {
    return List.of();
  }

  @Override
  public List<String> jvmFlags(Map<String, String> options) {
    boolean vector = options.getOrDefault("tier", "").equals(Tier.VECTOR.label());
    return vector
        ? List.of("-XX:MaxDirectMemorySize=1t", "--add-modules=jdk.incubator.vector")
        : List.of("-XX:MaxDirectMemorySize=1t");
  }

  @Override
  public Engine create() {
    return new AttentionEngine();
  }
}
