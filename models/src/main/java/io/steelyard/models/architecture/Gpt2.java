package io.steelyard.models.architecture;

import io.steelyard.kernels.Activation;
import io.steelyard.kernels.AttentionRule;

/**
 * GPT-2: learned positions, layer norms, biases throughout, and a feed-forward part without a gate.
 *
 * <p>Source: Radford et al., "Language models are unsupervised multitask learners" (2019).
 */
final class Gpt2 {
  static final String NAME = "gpt2";

  private Gpt2() {}

  static Decoder of(Parts parts) {
    AttentionRule rule = parts.causal();
    return parts.positionedDecoder(
        i ->
            Block.preNorm(
                parts.layerNorm(i, "attn_norm"),
                parts.attention(i, rule),
                parts.layerNorm(i, "ffn_norm"),
                parts.plain(i, Activation.GELU)));
  }
}
