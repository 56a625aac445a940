package io.steelyard.lab.worker;

import java.util.List;
import java.util.Map;

/**
 * Makes a JVM engine known by name. Found through {@link java.util.ServiceLoader}: list the class
 * in {@code META-INF/services/io.steelyard.lab.worker.EngineProvider}.
 */
public interface EngineProvider {
  /** The name used in {@code --engine}. */
  String name();

  /** One line for {@code steelyard engines list}. */
  String description();

  /** Options that the engine takes after its name, as {@code key=values meaning}. */
  List<String> options();

  /**
   * JVM flags that the worker needs beyond the usual ones.
   *
   * @param options that the engine will be loaded with
   */
  default List<String> jvmFlags(Map<String, String> options) {
    return List.of();
  }

  /** Variables that the worker needs in its environment. */
  default Map<String, String> environment() {
    return Map.of();
  }

  /** Makes the engine. Called once, in the worker process. */
  Engine create() throws EngineException;
}
