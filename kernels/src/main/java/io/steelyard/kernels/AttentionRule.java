package io.steelyard.kernels;

/**
 * How attention forms its scores, and which positions a query sees.
 *
 * @param scale multiplies the products of queries and keys, usually {@code 1/√dimension}
 * @param softCap scaled scores s become {@code softCap · tanh(s / softCap)}; 0 for no cap. Source:
 *     Gemma Team, "Gemma 2" (2024)
 * @param window how many positions a query sees at most, its own the last of them; 0 for all
 * @param causal whether a query sees no position after its own; otherwise it sees those of all
 *     tokens of the call
 */
public record AttentionRule(float scale, float softCap, int window, boolean causal) {
  public AttentionRule {
    if (!Float.isFinite(scale) || !(softCap >= 0) || Float.isInfinite(softCap) || window < 0) {
      throw new IllegalArgumentException(
          "attention can't have scale %s, soft cap %s and window %d"
              .formatted(scale, softCap, window));
    }
    if (window > 0 && !causal) {
      throw new IllegalArgumentException("a sliding window is only defined for causal attention");
    }
  }

  /** Causal attention over all earlier positions. */
  public static AttentionRule causal(float scale) {
    return new AttentionRule(scale, 0, 0, true);
  }

  /** The first position that the query at a position sees. */
  public int first(int own) {
    return window == 0 ? 0 : Math.max(0, own - window + 1);
  }

  /**
   * The position after the last one that a query sees.
   *
   * @param own its position
   * @param last the last position of the call
   */
  public int end(int own, int last) {
    return causal ? own + 1 : last + 1;
  }

  /** How many positions the queries of a call see, all together. */
  public long seen(int position, int tokens) {
    long seen = 0;
    for (int own = position; own < position + tokens; own++) {
      seen += end(own, position + tokens - 1) - first(own);
    }
    return seen;
  }
}
