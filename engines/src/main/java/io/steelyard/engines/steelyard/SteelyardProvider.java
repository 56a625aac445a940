package io.steelyard.engines.steelyard;

import io.steelyard.lab.worker.Engine;
import io.steelyard.lab.worker.EngineProvider;
import java.util.List;

/** Makes Steelyard's own engine known by name. */
public final class SteelyardProvider implements EngineProvider {
  /** The engine's name. */
  public static final String NAME = "steelyard";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String description() {
    return "Steelyard's own engine: pure Java, no native libraries";
  }

  @Override
  public List<String> options() {
    return SteelyardOptions.DESCRIPTIONS;
  }

  @Override
  public List<String> jvmFlags() {
    return List.of(
        "--add-modules=jdk.incubator.vector",
        // The KV cache lies off the heap; what the machine has free is checked before it is made.
        "-XX:MaxDirectMemorySize=1t",
        // A pass over all layers is called too seldom to be compiled during warm-up, and its
        // compilation
        // takes longer than a trial should be disturbed for: so it is asked for early.
        "-XX:CompileCommand=quiet",
        "-XX:CompileCommand=CompileThresholdScaling,io.steelyard.models.architecture.*::forward,0.2");
  }

  @Override
  public Engine create() {
    return new SteelyardEngine(System.getenv());
  }
}
