package io.steelyard.engines.benchmark;

import io.steelyard.lab.benchmark.BenchmarkProtocol;
import io.steelyard.lab.worker.Engine;
import io.steelyard.lab.worker.EngineProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Makes the engine {@code java} known. */
public final class BenchmarkEngineProvider implements EngineProvider {
  /** The class path of the benchmarks, known before anything is loaded. */
  static final String CLASS_PATH = "steelyard.benchmark.classpath";

  @Override
  public String name() {
    return BenchmarkProtocol.ENGINE;
  }

  @Override
  public String description() {
    return "runs no model: benchmarks of your own, by './steelyard bench java'";
  }

  @Override
  public List<String> options() {
    return List.of();
  }

  @Override
  public List<String> jvmFlags(Map<String, String> options) {
    List<String> flags = new ArrayList<>();
    flags.add("-D%s=%s".formatted(CLASS_PATH, options.get(BenchmarkProtocol.CLASS_PATH)));
    String own = options.getOrDefault(BenchmarkProtocol.JVM_FLAGS, "");
    flags.addAll(own.isEmpty() ? List.of() : List.of(own.split(" +")));
    return flags;
  }

  @Override
  public Engine create() {
    return new BenchmarkEngine(System.getProperty(CLASS_PATH, ""));
  }
}
