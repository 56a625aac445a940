package io.steelyard.engines.attention;

import io.steelyard.lab.worker.Engine;

/** Starts the ranks of {@link RingEngine}; not listed, since nobody else can use one. */
public final class RankProvider extends AttentionEngineProvider {
  @Override
  public String name() {
    return RankEngine.NAME;
  }

  @Override
  public String description() {
    return "runs no model: one rank of a ring";
  }

  @Override
  public Engine create() {
    return new RankEngine();
  }
}
