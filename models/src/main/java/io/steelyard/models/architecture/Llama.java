package io.steelyard.models.architecture;

import io.steelyard.kernels.Activation;
import io.steelyard.kernels.AttentionRule;
import io.steelyard.kernels.Rope;

/**
 * Llama, and in GGUF files SmolLM2 and Mistral: blocks of grouped-query attention with rotary
 * positions and a gated feed-forward part. Query and key rows are permuted in these files so that
 * turned pairs lie side by side.
 *
 * <p>Source: Touvron et al., "LLaMA" and "Llama 2" (2023).
 */
final class Llama {
  static final String NAME = "llama";

  private Llama() {}

  static Decoder of(Parts parts) {
    Positions rope = parts.rope(Rope.Layout.INTERLEAVED);
    AttentionRule rule = parts.causal();
    return parts.decoder(
        i ->
            Block.preNorm(
                parts.rmsNorm(i, "attn_norm"),
                parts.attention(i, rule).turned(rope),
                parts.rmsNorm(i, "ffn_norm"),
                parts.gated(i, Activation.SILU)));
  }
}
