package io.steelyard.models.safetensors;

import java.util.Locale;
import java.util.OptionalDouble;
import tools.jackson.databind.JsonNode;

/**
 * Rotary positions as a configuration states them: as {@code rope_theta} beside {@code
 * rope_scaling}, or, newer, both in {@code rope_parameters}, which may have one part for layers
 * with full attention and one for those with a window.
 *
 * @param theta base of the frequencies of layers with full attention
 * @param slidingTheta that of layers with a window, where it is another
 * @param type of the scaling, in lower case; empty for none
 * @param parameters of the scaling
 */
record RopeConfig(
    OptionalDouble theta, OptionalDouble slidingTheta, String type, JsonNode parameters) {

  static RopeConfig of(CheckpointConfig config) {
    JsonNode given = config.node("rope_parameters", "rope_scaling");
    JsonNode full = given.path("full_attention").isObject() ? given.path("full_attention") : given;
    JsonNode sliding = given.path("sliding_attention");
    OptionalDouble theta = config.positive(full.path("rope_theta"), "rope_theta");
    OptionalDouble slidingTheta = config.positive(sliding.path("rope_theta"), "rope_theta");
    String type = full.path("rope_type").asString(full.path("type").asString(""));
    return new RopeConfig(
        theta.isPresent() ? theta : config.positive("rope_theta"),
        slidingTheta.isPresent() ? slidingTheta : config.positive("rope_local_base_freq"),
        type.toLowerCase(Locale.ROOT),
        full);
  }

  /** A number among the parameters, or the fallback. */
  double number(CheckpointConfig config, String name, double fallback) {
    return config.positive(parameters.path(name), name).orElse(fallback);
  }

  /** Positions that the model was trained for before it was stretched. */
  OptionalDouble originalContext(CheckpointConfig config) {
    String name = "original_max_position_embeddings";
    OptionalDouble own = config.positive(parameters.path(name), name);
    return own.isPresent() ? own : config.positive(name);
  }
}
