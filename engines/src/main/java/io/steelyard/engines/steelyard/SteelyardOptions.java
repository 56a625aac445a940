package io.steelyard.engines.steelyard;

import io.steelyard.kernels.ChosenTier;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.ThreadTeam;
import io.steelyard.kernels.Tier;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import io.steelyard.lab.worker.LoadRequest;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * How a model is loaded: a {@link LoadRequest} with the engine's own options read and checked.
 *
 * @param tier the kernels to use
 * @param threads compute threads, 1 to {@link ThreadTeam#MAX_THREADS}
 * @param context positions that the KV cache holds, at least 1
 * @param kv type of the KV cache: {@link DataType#F16}, {@link DataType#F32} or {@link
 *     DataType#Q8_0}
 * @param deterministic whether a prompt takes the numeric path of decoding
 * @param lookup whether greedy decoding drafts by prompt lookup
 * @param slowdown by how much every pass is to take longer
 * @param filling how masks are filled in, by a model that is trained to
 * @param fused whether operators are computed together that can be
 * @param profile the folder that a {@link Profiler} writes into, if one is to run
 */
record SteelyardOptions(
    Tier tier,
    int threads,
    int context,
    DataType kv,
    boolean deterministic,
    boolean lookup,
    Slowdown slowdown,
    Filling filling,
    boolean fused,
    Optional<Path> profile) {
  /** Forces a tier where no option names one. */
  static final String TIER_VARIABLE = "STEELYARD_TIER";

  private static final List<String> OWN =
      List.of(
          "tier=" + Tier.labels() + " kernels to use (default: the fastest that runs here)",
          "kv=f16|f32|q8_0 type of the KV cache (default: the study's, f16)",
          "threads=N compute threads (default: --threads)",
          "deterministic=on|off one numeric path for every batch size; prompts take longer"
              + " (default: off)",
          "speculate=lookup|off draft tokens that followed the same ones before, and check them in one"
              + " pass: the same greedy output, sooner where text repeats (default: off)",
          Slowdown.OPTION
              + "=SHARE every pass takes longer by that share, 0.05 for 5 %, to try what a comparison"
              + " finds (default: 0)",
          SteelyardProvider.FUSED
              + "=on|off queries, keys and values, gate and up, and the gate's activation and product"
              + " together or one by one, to weigh what that is worth (default: on)",
          SteelyardProvider.INTERPRET
              + "=on|off without compiling Java code, for debugging (default: off)",
          Profiler.OPTION
              + "=DIR times every operator, slows it down and says in DIR where the time went");

  /** What each option does, for {@code steelyard engines list} and for refusals. */
  static final List<String> DESCRIPTIONS =
      Stream.of(OWN, Filling.DESCRIPTIONS).flatMap(List::stream).toList();

  /**
   * Reads a request.
   *
   * @param environment the process's environment variables
   * @throws EngineException if an option is unknown or a value is none of its values
   */
  static SteelyardOptions of(LoadRequest request, Map<String, String> environment)
      throws EngineException {
    Map<String, String> left = new TreeMap<>(request.options());
    Optional<String> tier = Optional.ofNullable(left.remove("tier"));
    Optional<String> threads = Optional.ofNullable(left.remove("threads"));
    Optional<String> kv = Optional.ofNullable(left.remove("kv"));
    Optional<String> deterministic = Optional.ofNullable(left.remove("deterministic"));
    Optional<String> speculate = Optional.ofNullable(left.remove("speculate"));
    Optional<String> slowdown = Optional.ofNullable(left.remove(Slowdown.OPTION));
    Filling filling = Filling.take(left);
    boolean fused =
        onOff(
            SteelyardProvider.FUSED,
            Optional.ofNullable(left.remove(SteelyardProvider.FUSED)).orElse("on"));
    // The process was started so; here the value is checked, and nothing is left to do.
    var _ =
        onOff(
            SteelyardProvider.INTERPRET,
            Optional.ofNullable(left.remove(SteelyardProvider.INTERPRET)).orElse("off"));
    Optional<String> profile = Optional.ofNullable(left.remove(Profiler.OPTION));
    if (!left.isEmpty()) {
      throw new EngineException(
          Kind.UNSUPPORTED,
          "steelyard has no option '%s'; it has: %s"
              .formatted(left.keySet().iterator().next(), String.join("; ", DESCRIPTIONS)));
    }
    ChosenTier chosen =
        tier.isPresent() ? ChosenTier.asked(tier("tier", tier.get())) : defaultTier(environment);
    if (!chosen.notice().isEmpty()) {
      System.err.println("steelyard: " + chosen.notice());
    }
    if (chosen.tier() != Tier.REFERENCE && !request.flashAttention()) {
      throw bad(
          "its attention is always tiled (flash attention) and can't be switched off; leave out"
              + " --no-flash and flash=off, or ask only engines that have the choice:"
              + " --engine llamacpp:flash=off");
    }
    return new SteelyardOptions(
        chosen.tier(),
        threads.isPresent() ? number(threads.get()) : threads(request.threads()),
        context(request.context()),
        kv(kv.orElse(request.kv())),
        onOff("deterministic", deterministic.orElse("off")),
        lookup(speculate.orElse("off")),
        slowdown.isPresent() ? Slowdown.of(slowdown.get()) : Slowdown.NONE,
        filling,
        fused,
        profile.isPresent() ? Optional.of(folder(profile.get())) : Optional.empty());
  }

  /** The tier of this process where no option names one. */
  static ChosenTier defaultTier(Map<String, String> environment) throws EngineException {
    return forced(environment.getOrDefault(TIER_VARIABLE, ""), ChosenTier::here);
  }

  /** The tier that the variable forces, or the usual one where it is empty. */
  static ChosenTier forced(String variable, Supplier<ChosenTier> usual) throws EngineException {
    return variable.isEmpty() ? usual.get() : ChosenTier.asked(tier(TIER_VARIABLE, variable));
  }

  static Tier tier(String name, String label) throws EngineException {
    return Tier.ofLabel(label)
        .orElseThrow(() -> bad("%s must be %s, not '%s'".formatted(name, Tier.labels(), label)));
  }

  private static int number(String text) throws EngineException {
    try {
      return threads(Integer.parseInt(text));
    } catch (NumberFormatException e) {
      throw new EngineException(
          Kind.BAD_REQUEST,
          "steelyard: threads must be a whole number, not '%s'".formatted(text),
          e);
    }
  }

  private static int threads(int threads) throws EngineException {
    if (threads < 1 || threads > ThreadTeam.MAX_THREADS) {
      throw bad("threads must be 1 to %d, not %d".formatted(ThreadTeam.MAX_THREADS, threads));
    }
    return threads;
  }

  private static int context(int context) throws EngineException {
    if (context < 1) {
      throw bad("the context must be at least 1, not " + context);
    }
    return context;
  }

  private static DataType kv(String label) throws EngineException {
    return switch (label) {
      case "f16" -> DataType.F16;
      case "f32" -> DataType.F32;
      case "q8_0" -> DataType.Q8_0;
      default -> throw bad("kv must be f16, f32 or q8_0, not '%s'".formatted(label));
    };
  }

  private static Path folder(String text) throws EngineException {
    if (text.isBlank()) {
      throw bad(Profiler.OPTION + " is empty: name a folder");
    }
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      throw new EngineException(
          Kind.BAD_REQUEST,
          "steelyard: " + Profiler.OPTION + " names no folder: " + e.getMessage(),
          e);
    }
  }

  private static boolean onOff(String name, String text) throws EngineException {
    return switch (text) {
      case "on" -> true;
      case "off" -> false;
      default -> throw bad("%s must be on or off, not '%s'".formatted(name, text));
    };
  }

  private static boolean lookup(String label) throws EngineException {
    return switch (label) {
      case "lookup" -> true;
      case "off" -> false;
      default -> throw bad("speculate must be lookup or off, not '%s'".formatted(label));
    };
  }

  static EngineException bad(String message) {
    return new EngineException(Kind.BAD_REQUEST, "steelyard: " + message);
  }
}
