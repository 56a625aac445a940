package io.steelyard.engines.steelyard;

import io.steelyard.lab.worker.DecodeRequest;
import io.steelyard.lab.worker.DecodeRequest.Sampling;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import io.steelyard.models.diffusion.Blocks;
import io.steelyard.models.diffusion.Diffusion;
import io.steelyard.models.diffusion.Diffusion.Algorithm;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * How a model that is trained to fill in masks generates.
 *
 * @param algorithm which masks come first
 * @param steps passes of a generation; as many as tokens where it is empty
 * @param blocks what is filled in at a time, and what is cached
 * @param asked whether any of it was asked for
 */
record Filling(Algorithm algorithm, Optional<Integer> steps, Blocks blocks, boolean asked) {
  /** What each option does. */
  static final List<String> DESCRIPTIONS =
      List.of(
          "algorithm="
              + Algorithm.labels()
              + " which masks are filled in first, by a model that fills in masks (default: entropy;"
              + " maskgit_plus with confidence)",
          "steps=N passes that fill in all masks (default: as many as tokens)",
          "block=N fill in blocks of N tokens from left to right (default: 32 with cache or"
              + " confidence, otherwise all at once)",
          "cache="
              + Blocks.Cache.labels()
              + " what a block's later passes don't compute again"
              + " (default: none)",
          "confidence=P fill in every mask above this confidence, in place of steps");

  private static final int USUAL_BLOCK = 32;

  /** Takes its options out of those that are left. */
  static Filling take(Map<String, String> left) throws EngineException {
    boolean asked = left.keySet().stream().anyMatch(Filling::isOption);
    Optional<String> named = Optional.ofNullable(left.remove("algorithm"));
    Optional<String> steps = Optional.ofNullable(left.remove("steps"));
    Optional<String> block = Optional.ofNullable(left.remove("block"));
    Optional<String> cached = Optional.ofNullable(left.remove("cache"));
    Optional<String> confidence = Optional.ofNullable(left.remove("confidence"));
    if (steps.isPresent() && confidence.isPresent()) {
      throw SteelyardOptions.bad("confidence takes the place of steps; leave one out");
    }
    Blocks.Cache cache =
        cached.isPresent()
            ? constant(Blocks.Cache.class, "cache", cached.get(), Blocks.Cache.labels())
            : Blocks.Cache.NONE;
    Algorithm algorithm =
        named.isPresent()
            ? constant(Algorithm.class, "algorithm", named.get(), Algorithm.labels())
            : confidence.isPresent() ? Algorithm.MASKGIT_PLUS : Algorithm.ENTROPY;
    boolean byBlocks = cache != Blocks.Cache.NONE || confidence.isPresent();
    try {
      Blocks blocks =
          new Blocks(
              block.isPresent()
                  ? Integer.parseInt(block.get())
                  : byBlocks ? USUAL_BLOCK : Blocks.NONE.size(),
              cache,
              confidence.isPresent()
                  ? OptionalDouble.of(Double.parseDouble(confidence.get()))
                  : OptionalDouble.empty());
      blocks.check(algorithm);
      Optional<Integer> count = steps.map(Integer::valueOf);
      if (count.isPresent() && count.get() < 1) {
        throw SteelyardOptions.bad("steps must be at least 1, not " + count.get());
      }
      return new Filling(algorithm, count, blocks, asked);
    } catch (NumberFormatException e) {
      throw new EngineException(
          Kind.BAD_REQUEST,
          "steelyard: steps and block are whole numbers and confidence one from 0 to 1: "
              + e.getMessage(),
          e);
    } catch (IllegalArgumentException e) {
      throw new EngineException(Kind.BAD_REQUEST, "steelyard: " + e.getMessage(), e);
    }
  }

  private static boolean isOption(String key) {
    return DESCRIPTIONS.stream().anyMatch(description -> description.startsWith(key + "="));
  }

  private static <E extends Enum<E>> E constant(
      Class<E> type, String option, String label, String labels) throws EngineException {
    for (E constant : type.getEnumConstants()) {
      if (constant.name().toLowerCase(Locale.ROOT).equals(label)) {
        return constant;
      }
    }
    throw SteelyardOptions.bad("%s must be %s, not '%s'".formatted(option, labels, label));
  }

  /**
   * The diffusion that answers a request.
   *
   * @throws EngineException if the request asks for what masks can't be filled in by
   */
  Diffusion diffusion(DecodeRequest request) throws EngineException {
    Sampling sampling = request.sampling();
    boolean others =
        sampling.minP() > 0 || sampling.typical() < 1 || sampling.penalties().last() != 0;
    if (others || !request.stop().isEmpty()) {
      throw new EngineException(
          Kind.UNSUPPORTED,
          "steelyard: a model that fills in masks has no min-p, typical, penalties or stop; leave them"
              + " out");
    }
    try {
      return new Diffusion(
          request.tokens(),
          steps.orElse(request.tokens()),
          algorithm,
          sampling.temperature(),
          sampling.topP() == 0 ? 1 : sampling.topP(),
          sampling.topK(),
          0,
          sampling.seed());
    } catch (IllegalArgumentException e) {
      throw new EngineException(Kind.BAD_REQUEST, "steelyard: " + e.getMessage(), e);
    }
  }

  /** What it adds to an engine's description. */
  String description() {
    return asked
        ? ", fills in by %s%s%s%s"
            .formatted(
                algorithm.label(),
                steps.map(count -> " in %d steps".formatted(count)).orElse(""),
                blocks.cache() == Blocks.Cache.NONE ? "" : ", cache " + blocks.cache().label(),
                blocks.threshold().isPresent()
                    ? ", confidence " + blocks.threshold().getAsDouble()
                    : "")
        : "";
  }
}
