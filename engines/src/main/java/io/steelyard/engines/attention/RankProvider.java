package io.steelyard.engines.attention;

import io.steelyard.lab.worker.Engine;
import io.steelyard.lab.worker.EngineProvider;
import java.util.List;
import java.util.Map;

/** Starts the ranks of {@link RingEngine}; not listed, since nobody else can use one. */
public final class RankProvider implements EngineProvider {
  @Override
  public String name() {
    return "attention-rank";
  }

  @Override
  public String description() {
    return "runs no model: one rank of a ring";
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
    return new RankEngine();
  }
}
