package io.steelyard.models.architecture;

import io.steelyard.kernels.Activation;
import io.steelyard.kernels.AttentionRule;
import io.steelyard.kernels.Rope;

/**
 * Phi-3 and Phi-4 mini: as Llama, with queries, keys and values in one tensor, gate and up in
 * another, and factors for long contexts.
 *
 * <p>Source: Abdin et al., "Phi-3 technical report" (2024).
 */
final class Phi3 {
  static final String NAME = "phi3";

  private Phi3() {}

  static Decoder of(Parts parts) {
    Positions rope = parts.rope(Rope.Layout.SPLIT);
    int window = parts.keys().countOrNone("attention.sliding_window");
    AttentionRule rule = new AttentionRule(parts.causal().scale(), 0, window, true);
    return parts.decoder(
        i ->
            Block.preNorm(
                parts.rmsNorm(i, "attn_norm"),
                parts.attention(i, rule).turned(rope),
                parts.rmsNorm(i, "ffn_norm"),
                parts.gated(i, Activation.SILU)));
  }
}
