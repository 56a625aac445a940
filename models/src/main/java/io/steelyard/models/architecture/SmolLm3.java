package io.steelyard.models.architecture;

import io.steelyard.kernels.Activation;
import io.steelyard.kernels.AttentionRule;
import io.steelyard.kernels.Rope;

/**
 * SmolLM3: as Llama, but every fourth block turns nothing.
 *
 * <p>Source: Bakouch et al., "SmolLM3" (2025), after Yang et al., "RoPE to NoPE and back again"
 * (2025).
 */
final class SmolLm3 {
  static final String NAME = "smollm3";

  private static final int UNTURNED = 4;

  private SmolLm3() {}

  static Decoder of(Parts parts) {
    Positions rope = parts.rope(Rope.Layout.INTERLEAVED);
    AttentionRule rule = parts.causal();
    return parts.decoder(
        i -> {
          SelfAttention attention = parts.attention(i, rule);
          return Block.preNorm(
              parts.rmsNorm(i, "attn_norm"),
              (i + 1) % UNTURNED == 0 ? attention : attention.turned(rope),
              parts.rmsNorm(i, "ffn_norm"),
              parts.gated(i, Activation.SILU));
        });
  }
}
