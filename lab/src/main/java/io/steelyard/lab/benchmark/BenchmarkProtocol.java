package io.steelyard.lab.benchmark;

/** What the lab and the engine {@code java} say to each other, beside the worker protocol. */
public final class BenchmarkProtocol {
  /** The engine's name. */
  public static final String ENGINE = "java";

  /** Options of a variant, as a study keeps them: where the user's classes lie, and which it is. */
  public static final String CLASS_PATH = "classpath";

  public static final String CLASS = "class";
  public static final String BENCHMARK = "benchmark";
  public static final String VARIANT = "variant";

  /** Further flags of the JVM, parted by blanks. */
  public static final String JVM_FLAGS = "jvm";

  /** In a call's shape: compare the result with the baseline's. */
  public static final String PROVE = "prove";

  /** In a call's shape: how many operations, where it isn't yet known how many a call has. */
  public static final String OPERATIONS = "operations";

  private BenchmarkProtocol() {}

  /** The option that says how many operations a call of a workload has. */
  public static String operations(String workload) {
    return OPERATIONS + "." + workload;
  }

  /**
   * What results of an engine are held to: of the user's code there is nothing but the baseline.
   */
  public static String truth(String engine) {
    return engine.equals(ENGINE) ? "the baseline" : "its definition";
  }
}
