package io.steelyard.models.diffusion;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * How masked diffusion fills in tokens.
 *
 * @param tokens how many masks follow the prompt, at least 1
 * @param steps passes over the whole sequence, at least 1
 * @param algorithm which masks are filled in first
 * @param temperature divides the logits; 0 takes the most likely token (ties: lowest id)
 * @param topP keep the most likely tokens until their probability reaches this, the token that
 *     crosses it included; 1 keeps all
 * @param topK then keep this many tokens; 0 keeps all
 * @param order 0 fills in the most confident masks; above, they are drawn by the softmax of
 *     confidence over this
 * @param seed of the generator
 */
public record Diffusion(
    int tokens,
    int steps,
    Algorithm algorithm,
    double temperature,
    double topP,
    int topK,
    double order,
    long seed) {

  /** Where the schedule ends; it begins at 1. */
  static final double LAST_TIME = 1e-3;

  /**
   * What makes a mask's candidate one to be kept. Source: Ye et al., "Dream 7B" (2025); Chang et
   * al., "MaskGIT" (2022).
   */
  public enum Algorithm {
    /** Chance alone: each mask with the probability that the schedule gives. */
    ORIGIN,
    /** The candidate's probability. */
    MASKGIT_PLUS,
    /** The two largest probabilities' difference. */
    TOPK_MARGIN,
    /** The least entropy. */
    ENTROPY;

    /** Whether a confidence of this kind lies between 0 and 1. */
    public boolean confidenceIsShare() {
      return this == MASKGIT_PLUS || this == TOPK_MARGIN;
    }

    /** The spelling on the command line and in records. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** All spellings, for messages. */
    public static String labels() {
      return Arrays.stream(values()).map(Algorithm::label).collect(Collectors.joining("|"));
    }
  }

  public Diffusion {
    if (tokens < 1 || steps < 1) {
      throw new IllegalArgumentException(
          "%d tokens in %d steps: both must be at least 1".formatted(tokens, steps));
    }
    if (!(temperature >= 0) || !(order >= 0) || Double.isInfinite(temperature + order)) {
      throw new IllegalArgumentException(
          "temperature %s and order %s must be 0 or more".formatted(temperature, order));
    }
    if (!(topP > 0 && topP <= 1) || topK < 0) {
      throw new IllegalArgumentException(
          "top-p %s must be above 0 and at most 1, top-k %d at least 0".formatted(topP, topK));
    }
  }

  /** Always the most likely tokens, the most confident first. */
  public static Diffusion greedy(int tokens, int steps, Algorithm algorithm) {
    return new Diffusion(tokens, steps, algorithm, 0, 1, 0, 0, 0);
  }

  /** The same with another number of tokens and steps. */
  Diffusion part(int partTokens, int partSteps) {
    return new Diffusion(partTokens, partSteps, algorithm, temperature, topP, topK, order, seed);
  }

  /** The schedule's time before a step, of which the first is 0. */
  double time(int step) {
    return 1 + (LAST_TIME - 1) * step / steps;
  }

  /** The share of masks that a step fills in. */
  double share(int step) {
    return step == steps - 1 ? 1 : 1 - time(step + 1) / time(step);
  }

  /**
   * How many masks a step fills in.
   *
   * @param left masks before it
   */
  public int filled(int step, int left) {
    return step == steps - 1 ? left : (int) Math.floor(left * share(step));
  }
}
