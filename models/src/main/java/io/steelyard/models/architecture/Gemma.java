package io.steelyard.models.architecture;

import io.steelyard.kernels.Activation;
import io.steelyard.kernels.AttentionRule;
import io.steelyard.kernels.Rope;
import java.util.function.IntFunction;

/**
 * Gemma 2 and 3: embeddings scaled by the root of their width, norms before and after both parts of
 * a block, a gate with GELU, and blocks whose attention slides over a window between those that see
 * everything. Gemma 2 caps scores and logits; Gemma 3 norms queries and keys instead, and turns
 * those of windows by a rotation of their own.
 *
 * <p>Source: Gemma Team, "Gemma 2" (2024) and "Gemma 3 technical report" (2025). The files' norms
 * have 1 added to their weights.
 */
final class Gemma {
  static final String SECOND = "gemma2";
  static final String THIRD = "gemma3";

  /** Of so many blocks the last sees everything. */
  private static final int PERIOD_OF_SECOND = 2;

  private static final int PERIOD_OF_THIRD = 6;

  /** The models of 27 billion scale scores by what would be a head's share of the hidden state. */
  private static final int LARGE_SECOND = 46;

  private static final int LARGE_THIRD = 62;

  private Gemma() {}

  static Decoder second(Parts parts) {
    Positions rope = parts.rope(Rope.Layout.SPLIT);
    float cap = (float) parts.keys().positive("attn_logit_softcapping", 50);
    AttentionRule all = new AttentionRule(scale(parts, LARGE_SECOND), cap, 0, true);
    int window = parts.keys().count("attention.sliding_window", 4096);
    AttentionRule sliding = new AttentionRule(all.scale(), cap, window, true);
    return decoder(
            parts,
            i -> parts.attention(i, (i + 1) % PERIOD_OF_SECOND == 0 ? all : sliding).turned(rope))
        .capped((float) parts.keys().positive("final_logit_softcapping", 30));
  }

  static Decoder third(Parts parts) {
    Positions rope = parts.rope(Rope.Layout.SPLIT);
    Positions ropeOfWindow =
        RopeScaling.plain(
            Rope.Layout.SPLIT,
            parts.config().headDimension(),
            parts.keys().positive("rope.freq_base_swa", 10_000));
    AttentionRule all = new AttentionRule(scale(parts, LARGE_THIRD), 0, 0, true);
    int window = parts.keys().count("attention.sliding_window", 1024);
    AttentionRule sliding = new AttentionRule(all.scale(), 0, window, true);
    Decoder decoder =
        decoder(
            parts,
            i ->
                (i + 1) % PERIOD_OF_THIRD == 0
                    ? parts.headNormed(i, all).turned(rope)
                    : parts.headNormed(i, sliding).turned(ropeOfWindow));
    String cap = "final_logit_softcapping";
    return parts.keys().has(cap) ? decoder.capped((float) parts.keys().positive(cap, 1)) : decoder;
  }

  private static Decoder decoder(Parts parts, IntFunction<SelfAttention> attention) {
    return parts
        .decoder(
            i ->
                Block.preNorm(
                        parts.rmsNorm(i, "attn_norm"),
                        attention.apply(i),
                        parts.rmsNorm(i, "ffn_norm"),
                        parts.gated(i, Activation.GELU))
                    .postNorm(
                        parts.rmsNorm(i, "post_attention_norm"), parts.rmsNorm(i, "post_ffw_norm")))
        .scaled((float) Math.sqrt(parts.config().hidden()));
  }

  private static float scale(Parts parts, int layersOfLarge) {
    Config config = parts.config();
    return config.layers() == layersOfLarge
        ? (float) (1 / Math.sqrt((double) config.hidden() / config.heads()))
        : parts.causal().scale();
  }
}
