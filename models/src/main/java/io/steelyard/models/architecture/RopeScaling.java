package io.steelyard.models.architecture;

import io.steelyard.kernels.Rope;

/**
 * How a model's rotary positions were stretched beyond the context that it was first trained for.
 */
final class RopeScaling {
  private static final double BETA_FAST = 32;
  private static final double BETA_SLOW = 1;

  private final Keys keys;
  private final Rope.Layout layout;
  private final int dimensions;
  private final double theta;

  private RopeScaling(Keys keys, Rope.Layout layout, int dimensions) {
    this.keys = keys;
    this.layout = layout;
    this.dimensions = dimensions;
    theta = keys.positive("rope.freq_base", 10_000);
  }

  /**
   * The rotation that a file describes.
   *
   * @throws io.steelyard.models.ModelException if it can't be, or is of a kind that isn't known
   */
  static Positions read(Keys keys, Config config, Weights weights, Rope.Layout layout) {
    int dimensions = keys.count("rope.dimension_count", config.headDimension());
    if (dimensions > config.headDimension() || dimensions % 2 != 0) {
      throw keys.metadata()
          .fault(
              "the model turns %d of %d values of a head; that must be even and no more"
                  .formatted(dimensions, config.headDimension()));
    }
    return new RopeScaling(keys, layout, dimensions).positions(weights, config);
  }

  /** A rotation that nothing stretches. */
  static Positions plain(Rope.Layout layout, int dimensions, double theta) {
    return new Positions(new Rope(layout, dimensions, theta, 1, new float[0]));
  }

  private Positions positions(Weights weights, Config config) {
    String type = keys.string("rope.scaling.type", "");
    return switch (type) {
      case "none" -> factored(weights, 1);
      // Older files name a factor and no type.
      case "" -> factored(weights, keys.positive("rope.scale_linear", 1));
      case "linear" -> factored(weights, keys.positive("rope.scaling.factor", 1));
      case "yarn" -> yarn();
      case "longrope" -> longRope(weights, config);
      default ->
          throw keys.metadata()
              .fault(
                  "the model scales its positions by '%s', which isn't supported; linear, yarn and longrope are"
                      .formatted(type));
    };
  }

  private Positions factored(Weights weights, double linear) {
    return new Positions(rope(weights, "rope_freqs.weight", 1 / linear));
  }

  /**
   * A rotation.
   *
   * @param factors the tensor of what divides the pairs' frequencies, if the file has it
   */
  private Rope rope(Weights weights, String factors, double scale) {
    return new Rope(layout, dimensions, theta, scale, weights.values(factors, dimensions / 2));
  }

  /**
   * Slow rotations are stretched, fast ones are not, those between in part. Source: Peng et al.,
   * "YaRN" (2023), sections 3.2 and 3.4.
   */
  private Positions yarn() {
    requireOne("yarn_ext_factor");
    requireOne("yarn_attn_factor");
    double[] frequencies = Rope.frequencies(dimensions, theta);
    double factor = keys.positive("rope.scaling.factor", 1);
    double original = keys.count("rope.scaling.original_context_length");
    double low =
        Math.floor(turning(original, keys.positive("rope.scaling.yarn_beta_fast", BETA_FAST)));
    double high =
        Math.ceil(turning(original, keys.positive("rope.scaling.yarn_beta_slow", BETA_SLOW)));
    low = Math.max(low, 0);
    high = Math.min(high, dimensions - 1);
    for (int i = 0; i < frequencies.length; i++) {
      double stretched = Math.clamp((i - low) / Math.max(0.001, high - low), 0, 1);
      frequencies[i] *= stretched / factor + 1 - stretched;
    }
    double magnitude = keys.positive("rope.scaling.attn_factor", 1) * (1 + 0.1 * Math.log(factor));
    return new Positions(new Rope(layout, frequencies, magnitude));
  }

  /** The pair, in fractions, that turns so many times over the original context. */
  private double turning(double original, double times) {
    return dimensions * Math.log(original / (times * 2 * Math.PI)) / (2 * Math.log(theta));
  }

  /**
   * Each pair has a factor of its own, another one for sequences beyond the original context.
   * Source: Ding et al., "LongRoPE" (2024).
   */
  private Positions longRope(Weights weights, Config config) {
    double magnitude = keys.positive("rope.scaling.attn_factor", 1);
    return new Positions(
        rope(weights, "rope_factors_short.weight", 1).magnified(magnitude),
        rope(weights, "rope_factors_long.weight", 1).magnified(magnitude),
        keys.count("rope.scaling.original_context_length", config.trainedContext()));
  }

  /** Refuses a model that asks for another strength than the paper's. */
  private void requireOne(String key) {
    double value = keys.positive("rope.scaling." + key, 1);
    if (value != 1) {
      throw keys.metadata()
          .fault(
              "the model's YaRN has a '%s' of %s, which isn't supported; only 1 is"
                  .formatted(key, value));
    }
  }
}
