package io.steelyard.engines.steelyard;

import io.steelyard.lab.worker.Engine;
import io.steelyard.lab.worker.EngineProvider;
import java.util.List;
import java.util.Map;

/** Steelyard's own engine with a fault planted in it: {@code faulty:fault=epsilon}. */
public final class FaultyProvider implements EngineProvider {
  @Override
  public String name() {
    return "faulty";
  }

  @Override
  public String description() {
    return "Steelyard's own engine with a planted fault";
  }

  @Override
  public List<String> options() {
    return List.of("fault=" + List.of(Fault.values()));
  }

  @Override
  public List<String> jvmFlags(Map<String, String> options) {
    return new SteelyardProvider().jvmFlags(options);
  }

  @Override
  public Engine create() {
    return new FaultyEngine();
  }
}
