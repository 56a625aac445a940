package io.steelyard.models.architecture;

import io.steelyard.kernels.Activation;
import io.steelyard.kernels.AttentionRule;
import io.steelyard.kernels.Rope;

/**
 * Qwen2 and Qwen2.5: as Llama, with biases on queries, keys and values; and Dream and DiffuCoder,
 * which are trained from it to fill in masked tokens, and see in both directions.
 *
 * <p>Source: Yang et al., "Qwen2 technical report" (2024); Ye et al., "Dream 7B" (2025).
 */
final class Qwen2 {
  static final String NAME = "qwen2";
  static final String DREAM = "dream";

  private Qwen2() {}

  static Decoder of(Parts parts) {
    return of(parts, parts.causal());
  }

  static Decoder dream(Parts parts) {
    return of(parts, new AttentionRule(parts.causal().scale(), 0, 0, false));
  }

  private static Decoder of(Parts parts, AttentionRule rule) {
    Positions rope = parts.rope(Rope.Layout.SPLIT);
    return parts.decoder(
        i ->
            Block.preNorm(
                parts.rmsNorm(i, "attn_norm"),
                parts.attention(i, rule).turned(rope),
                parts.rmsNorm(i, "ffn_norm"),
                parts.gated(i, Activation.SILU)));
  }
}
