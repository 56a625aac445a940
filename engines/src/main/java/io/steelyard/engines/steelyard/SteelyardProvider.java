package io.steelyard.engines.steelyard;

import io.steelyard.kernels.ChosenTier;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tier;
import io.steelyard.lab.worker.Engine;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineProvider;
import io.steelyard.lab.worker.EngineSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Makes Steelyard's own engine known by name. */
public final class SteelyardProvider implements EngineProvider {
  /** The engine's name. */
  public static final String NAME = "steelyard";

  /** The option that keeps the virtual machine from compiling. */
  public static final String INTERPRET = "interpret";

  /** The option that computes operators one by one that are otherwise computed together. */
  public static final String FUSED = "fused";

  private static final List<String> FLAGS =
      List.of(
          // The KV cache lies off the heap; what the machine has free is checked before it is made.
          "-XX:MaxDirectMemorySize=1t",
          // A pass over all layers is called too seldom to be compiled during warm-up, and its
          // compilation takes longer than a trial should be disturbed for: it is asked for early.
          "-XX:CompileCommand=quiet",
          "-XX:CompileCommand=CompileThresholdScaling,io.steelyard.models.architecture.*::forward,0.2");

  /**
   * Where kernels are machine code, what is left to the compilers gains nothing from methods that
   * are inlined whole, and their memory, most of it at once, counts in the engine's peak.
   */
  private static final String INLINE_LITTLE = "-XX:InlineSmallCode=200";

  /** The C library gives what compilers have freed back to the system, not to a thread's store. */
  private static final Map<String, String> GIVES_BACK =
      Map.of("MALLOC_ARENA_MAX", "1", "MALLOC_MMAP_THRESHOLD_", "32768");

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
  public Map<String, String> environment() {
    return GIVES_BACK;
  }

  @Override
  public List<String> jvmFlags(Map<String, String> options) {
    List<String> flags = new ArrayList<>();
    flags.add(needsVectorModule(options) ? Kernels.VECTOR_FLAG : INLINE_LITTLE);
    flags.addAll(FLAGS);
    if (isInterpreted(options)) {
      flags.add("-Xint");
    }
    return flags;
  }

  /**
   * The tier that the engine runs in, in a process that is started for it: the one that its options
   * name, or the environment forces, or the fastest.
   *
   * @throws EngineException if there is none of that name
   */
  public static ChosenTier tier(Map<String, String> options) throws EngineException {
    String named = options.get("tier");
    return named == null
        ? SteelyardOptions.forced(variable(options), ChosenTier::withVectors)
        : ChosenTier.asked(SteelyardOptions.tier("tier", named));
  }

  /** What forces a tier in the engine's environment; empty where nothing does. */
  private static String variable(Map<String, String> options) {
    String name = SteelyardOptions.TIER_VARIABLE;
    return EngineSpec.environment(options)
        .getOrDefault(name, System.getenv().getOrDefault(name, ""));
  }

  /** Whether the engine's code is interpreted: for debugging, not for a measurement. */
  public static boolean isInterpreted(Map<String, String> options) {
    return options.getOrDefault(INTERPRET, "off").equals("on");
  }

  /**
   * Whether the engine takes the vector tier, or would in a JVM that has its module. The module
   * costs start-up time, so only the tier that needs it gets it.
   */
  public static boolean needsVectorModule(Map<String, String> options) {
    String tier = options.getOrDefault("tier", variable(options));
    return tier.equals(Tier.VECTOR.label())
        || (tier.isEmpty() && ChosenTier.withVectors().tier() == Tier.VECTOR);
  }

  @Override
  public Engine create() {
    return new SteelyardEngine(System.getenv());
  }
}
