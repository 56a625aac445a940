package io.steelyard.app;

import io.steelyard.models.diffusion.Blocks;
import io.steelyard.models.diffusion.Diffusion;
import io.steelyard.models.diffusion.Diffusion.Algorithm;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;

/** How {@code generate --diffuse} fills in masks. */
final class DiffusionOptions {
  private static final int USUAL_BLOCK = 32;
  private static final int MOST_TOKENS = 1 << 20;

  /** What belongs to a token after the other, or to another process. */
  private static final List<String> OTHERS =
      List.of(
          "--speculate",
          "--deterministic",
          "--stop",
          "--stop-id",
          "--min-p",
          "--typical",
          "--repeat-penalty",
          "--frequency-penalty",
          "--presence-penalty",
          "--repeat-last");

  @Option(
      names = "--diffuse",
      required = true,
      description = {
        "fill in --tokens masks after the prompt, in any order, for a model that is trained to",
        "(Dream, DiffuCoder); with --temperature, --top-p, --top-k and --seed"
      })
  boolean diffuse;

  @Option(
      names = "--steps",
      paramLabel = "N",
      description = "passes that fill in the masks; as many as tokens, where it is not given")
  private Integer steps;

  @Option(
      names = "--algorithm",
      paramLabel = "HOW",
      description = {
        "which masks come first: entropy (the usual one), maskgit_plus (probability),",
        "topk_margin (lead over the second), or origin (chance)"
      })
  private Algorithm algorithm;

  @Option(
      names = "--alg-temp",
      paramLabel = "T",
      defaultValue = "0",
      description = "0 takes the most confident masks, above they are drawn by confidence")
  private double order;

  @Option(
      names = "--mask-id",
      paramLabel = "ID",
      description = "the mask's token, where the file doesn't say")
  private Integer mask;

  @Option(
      names = "--block",
      paramLabel = "N",
      description = {
        "fill in blocks of N tokens from left to right; 32 with --cache or",
        "--confidence-threshold, otherwise all at once"
      })
  private Integer block;

  @Option(
      names = "--cache",
      paramLabel = "WHAT",
      defaultValue = "none",
      description = {
        "what a block's later passes don't compute again: none, prefix (what is before the",
        "block) or dual (what is before and behind it); sooner, and perhaps another text"
      })
  private Blocks.Cache cache;

  @Option(
      names = "--confidence-threshold",
      paramLabel = "P",
      description = {
        "fill in every mask above this confidence, at least one a pass, in place of --steps;",
        "by maskgit_plus or topk_margin"
      })
  private Double threshold;

  /**
   * Refuses options that masked diffusion doesn't have.
   *
   * @throws UsageException if one is there
   */
  void requireAlone(ParseResult parsed) {
    for (String other : OTHERS) {
      if (parsed.hasMatchedOption(other)) {
        throw new UsageException(
            other + " is for models that generate token by token: leave it or --diffuse out");
      }
    }
    if (threshold != null && steps != null) {
      throw new UsageException("--confidence-threshold takes the place of --steps: leave one out");
    }
  }

  /**
   * How many masks are filled in, and how.
   *
   * @throws UsageException if that makes no sense
   */
  Diffusion masks(SamplingOptions sampling, int tokens) {
    StudyOptions.between("--steps", steps(tokens), 1, MOST_TOKENS);
    try {
      return new Diffusion(
          tokens,
          steps(tokens),
          algorithm(),
          sampling.temperature(),
          sampling.topP(),
          sampling.topK(),
          order,
          sampling.seed());
    } catch (IllegalArgumentException e) {
      throw new UsageException("--diffuse: " + e.getMessage());
    }
  }

  private int steps(int tokens) {
    return steps == null ? tokens : steps;
  }

  private Algorithm algorithm() {
    if (algorithm != null) {
      return algorithm;
    }
    return threshold == null ? Algorithm.ENTROPY : Algorithm.MASKGIT_PLUS;
  }

  /**
   * The blocks they are filled in by.
   *
   * @throws UsageException if there are none such
   */
  Blocks blocks() {
    boolean cached = cache != Blocks.Cache.NONE;
    int usual = cached || threshold != null ? USUAL_BLOCK : Blocks.NONE.size();
    try {
      Blocks blocks =
          new Blocks(
              block == null ? usual : block,
              cache,
              threshold == null ? OptionalDouble.empty() : OptionalDouble.of(threshold));
      blocks.check(algorithm());
      return blocks;
    } catch (IllegalArgumentException e) {
      throw new UsageException("--diffuse: " + e.getMessage());
    }
  }

  /** The mask's id, where it was given. */
  OptionalInt mask() {
    return mask == null ? OptionalInt.empty() : OptionalInt.of(mask);
  }
}
