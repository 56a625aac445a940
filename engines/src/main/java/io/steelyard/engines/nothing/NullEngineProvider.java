package io.steelyard.engines.nothing;

import io.steelyard.lab.worker.Engine;
import io.steelyard.lab.worker.EngineProvider;
import java.util.List;

/** Makes the engine {@code null} known. */
public final class NullEngineProvider implements EngineProvider {
  @Override
  public String name() {
    return "null";
  }

  @Override
  public String description() {
    return "does nothing: measures the lab's own overhead";
  }

  @Override
  public List<String> options() {
    return List.of();
  }

  @Override
  public Engine create() {
    return new NullEngine();
  }
}
