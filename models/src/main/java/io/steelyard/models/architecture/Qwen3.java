package io.steelyard.models.architecture;

import io.steelyard.kernels.Activation;
import io.steelyard.kernels.AttentionRule;
import io.steelyard.kernels.Rope;
import java.util.function.IntFunction;

/**
 * Qwen3, dense and as a mixture of experts: as Llama, with norms of each head's query and key.
 *
 * <p>Source: Yang et al., "Qwen3 technical report" (2025).
 */
final class Qwen3 {
  static final String NAME = "qwen3";
  static final String MIXTURE = "qwen3moe";

  private Qwen3() {}

  static Decoder of(Parts parts) {
    return of(parts, i -> parts.gated(i, Activation.SILU));
  }

  static Decoder mixture(Parts parts) {
    return of(parts, i -> parts.mixture(i, Activation.SILU));
  }

  private static Decoder of(Parts parts, IntFunction<FeedForward> feedForward) {
    Positions rope = parts.rope(Rope.Layout.SPLIT);
    AttentionRule rule = parts.causal();
    return parts.decoder(
        i ->
            Block.preNorm(
                parts.rmsNorm(i, "attn_norm"),
                parts.headNormed(i, rule).turned(rope),
                parts.rmsNorm(i, "ffn_norm"),
                feedForward.apply(i)));
  }
}
