package io.steelyard.engines.attention;

import io.steelyard.lab.worker.Engine;

/** Makes the engine {@code attention-ring} known. */
public final class RingEngineProvider extends AttentionEngineProvider {
  @Override
  public String name() {
    return RingProblem.ENGINE;
  }

  @Override
  public String description() {
    return "runs no model: attention over processes, by './steelyard attention ring'";
  }

  @Override
  public Engine create() {
    return new RingEngine();
  }
}
