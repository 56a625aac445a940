package io.steelyard.models.diffusion;

import java.util.Arrays;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.stream.Collectors;

/**
 * Which masks may be filled in at a time, and what a pass computes anew: blocks are filled in one
 * after the other, from left to right.
 *
 * <p>Source: Wu et al., "Fast-dLLM" (2025).
 *
 * @param size tokens of a block, the last of which may be shorter; at least 1
 * @param cache what the passes of a block don't compute again
 * @param threshold where there is one, each pass fills in every mask whose confidence is above it,
 *     at least the most confident one, in place of the schedule
 */
public record Blocks(int size, Cache cache, OptionalDouble threshold) {
  /** All tokens in one block that is computed whole. */
  public static final Blocks NONE =
      new Blocks(Integer.MAX_VALUE, Cache.NONE, OptionalDouble.empty());

  /**
   * What a block's first pass, which computes the whole sequence, leaves to the later ones. With a
   * cache these see keys and values of tokens as they were then, so that the text may be another.
   */
  public enum Cache {
    /** Nothing: each pass computes the whole sequence. */
    NONE,
    /** What lies before the block: a pass computes the block and what follows it. */
    PREFIX,
    /** What lies before and behind the block: a pass computes the block alone. */
    DUAL;

    /** The spelling on the command line and in records. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** All spellings, for messages. */
    public static String labels() {
      return Arrays.stream(values()).map(Cache::label).collect(Collectors.joining("|"));
    }
  }

  public Blocks {
    if (size < 1) {
      throw new IllegalArgumentException(
          "a block of %d tokens holds none; give at least 1".formatted(size));
    }
    if (threshold.isPresent() && !(threshold.getAsDouble() >= 0 && threshold.getAsDouble() <= 1)) {
      throw new IllegalArgumentException(
          "confidence threshold %s must be 0 to 1".formatted(threshold.getAsDouble()));
    }
  }

  /**
   * Refuses a threshold for what is no share.
   *
   * @throws IllegalArgumentException if the algorithm's confidence doesn't lie between 0 and 1
   */
  public void check(Diffusion.Algorithm algorithm) {
    if (threshold.isPresent() && !algorithm.confidenceIsShare()) {
      throw new IllegalArgumentException(
          "a confidence threshold needs a confidence from 0 to 1, and that of %s is none: take maskgit_plus or topk_margin"
              .formatted(algorithm.label()));
    }
  }
}
