package io.steelyard.engines.llamacpp;

import io.steelyard.lab.worker.Engine;
import io.steelyard.lab.worker.EngineProvider;
import java.util.List;

/** Makes llama.cpp known by name. */
public final class LlamaCppProvider implements EngineProvider {
  /** The engine's name. */
  public static final String NAME = "llamacpp";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String description() {
    return "llama.cpp " + LlamaCppRelease.VERSION + ", official CPU build";
  }

  @Override
  public List<String> options() {
    return LlamaCppOptions.DESCRIPTIONS;
  }

  @Override
  public Engine create() {
    return new LlamaCppEngine();
  }
}
