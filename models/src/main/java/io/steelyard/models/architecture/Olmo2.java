package io.steelyard.models.architecture;

import io.steelyard.kernels.Activation;
import io.steelyard.kernels.AttentionRule;
import io.steelyard.kernels.Rope;
import java.util.Optional;

/**
 * OLMo 2: norms after both parts of a block and none before, and norms of all queries together and
 * of all keys.
 *
 * <p>Source: Team OLMo, "2 OLMo 2 Furious" (2024).
 */
final class Olmo2 {
  static final String NAME = "olmo2";

  private Olmo2() {}

  static Decoder of(Parts parts) {
    Positions rope = parts.rope(Rope.Layout.SPLIT);
    AttentionRule rule = parts.causal();
    return parts.decoder(
        i ->
            new Block(
                Optional.empty(),
                parts.widthNormed(i, rule).turned(rope),
                Optional.of(parts.rmsNorm(i, "post_attention_norm")),
                Optional.empty(),
                parts.gated(i, Activation.SILU),
                Optional.of(parts.rmsNorm(i, "post_ffw_norm"))));
  }
}
