package io.steelyard.models.safetensors;

import java.util.OptionalDouble;

/** The positions of Phi-3: part of a head turns, and long contexts stretch each frequency. */
final class PhiRope {
  private PhiRope() {}

  /** Positions that the model was trained for before it was stretched. */
  static int originalContext(CheckpointConfig config, RopeConfig rope) {
    return (int)
        rope.originalContext(config).orElseGet(() -> config.count("max_position_embeddings"));
  }

  /** Values of a head that are turned. */
  static int dimensions(CheckpointConfig config, RopeConfig rope) {
    String name = "partial_rotary_factor";
    double share =
        config.positive(rope.parameters().path(name), name).orElse(config.positive(name).orElse(1));
    return (int) (share * config.count("hidden_size")) / config.count("num_attention_heads");
  }

  /** By how much attention is scaled where the context is longer than the first one. */
  static OptionalDouble attentionFactor(CheckpointConfig config, RopeConfig rope) {
    if (!rope.parameters().path("long_factor").isArray()) {
      return OptionalDouble.empty();
    }
    double original = originalContext(config, rope);
    double scale = config.count("max_position_embeddings") / original;
    if (scale <= 1) {
      return OptionalDouble.of(1);
    }
    return OptionalDouble.of(
        rope.type().equals("yarn")
            ? 0.1 * Math.log(scale) + 1
            : Math.sqrt(1 + Math.log(scale) / Math.log(original)));
  }
}
