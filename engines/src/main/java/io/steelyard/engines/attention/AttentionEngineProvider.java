package io.steelyard.engines.attention;

import io.steelyard.engines.ProcessFacts;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tier;
import io.steelyard.lab.worker.Engine;
import io.steelyard.lab.worker.EngineProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Makes the engine {@code attention} known. */
public class AttentionEngineProvider implements EngineProvider {
  /** With more, references take twice as much memory. */
  private static final long MOST_HEAP = 31L << 30;

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

  /** Masks and lists of what is chosen lie on the heap, and what fits was planned beforehand. */
  @Override
  public List<String> jvmFlags(Map<String, String> options) {
    long heap = Math.min(ProcessFacts.totalMemory().orElse(MOST_HEAP), MOST_HEAP);
    List<String> flags = new ArrayList<>(List.of("-XX:MaxDirectMemorySize=1t", "-Xmx" + heap));
    if (options.getOrDefault("tier", "").equals(Tier.VECTOR.label())) {
      flags.add(Kernels.VECTOR_FLAG);
    }
    return flags;
  }

  @Override
  public Engine create() {
    return new AttentionEngine();
  }
}
