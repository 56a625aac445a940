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

  private RopeScaling(Keys keys, Rope.Layout layout, int dimensions) {
    this.keys = keys;
    this.layout = layout;
    this.dimensions = dimensions;
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
    return new Positions(new Rope(layout, Rope.frequencies(dimensions, theta), 1));
  }

  private Positions positions(Weights weights, Config config) {
    double[] frequencies = Rope.frequencies(dimensions, keys.positive("rope.freq_base", 10_000));
    String type = keys.string("rope.scaling.type", "");
    return switch (type) {
      case "none", "" ->
          // Older files name a factor and no type.
          factored(
              frequencies, weights, type.isEmpty() ? keys.positive("rope.scale_linear", 1) : 1);
      case "linear" -> factored(frequencies, weights, keys.positive("rope.scaling.factor", 1));
      case "yarn" -> yarn(frequencies);
      case "longrope" -> longRope(frequencies, weights, config);
      default ->
          throw keys.metadata()
              .fault(
                  "the model scales its positions by '%s', which isn't supported; linear, yarn and longrope are"
                      .formatted(type));
    };
  }

  private Positions factored(double[] frequencies, Weights weights, double linear) {
    return new Positions(
        rope(frequencies, weights.values("rope_freqs.weight", pairs()), linear, 1));
  }

  private int pairs() {
    return dimensions / 2;
  }

  /**
   * @param factors of the pairs, which divide their frequencies; none for no such factors
   */
  private Rope rope(double[] frequencies, float[] factors, double linear, double magnitude) {
    double[] scaled = frequencies.clone();
    for (int i = 0; i < scaled.length; i++) {
      scaled[i] /= linear * (factors.length == 0 ? 1 : factors[i]);
    }
    return new Rope(layout, scaled, magnitude);
  }

  /**
   * Slow rotations are stretched, fast ones are not, those between in part. Source: Peng et al.,
   * "YaRN" (2023), sections 3.2 and 3.4.
   */
  private Positions yarn(double[] frequencies) {
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
    double theta = keys.positive("rope.freq_base", 10_000);
    return dimensions * Math.log(original / (times * 2 * Math.PI)) / (2 * Math.log(theta));
  }

  /**
   * Each pair has a factor of its own, another one for sequences beyond the original context.
   * Source: Ding et al., "LongRoPE" (2024).
   */
  private Positions longRope(double[] frequencies, Weights weights, Config config) {
    double magnitude = keys.positive("rope.scaling.attn_factor", 1);
    float[] near = weights.values("rope_factors_short.weight", pairs());
    float[] far = weights.values("rope_factors_long.weight", pairs());
    return new Positions(
        rope(frequencies, near, 1, magnitude),
        rope(frequencies, far, 1, magnitude),
        keys.count("rope.scaling.original_context_length", config.trainedContext()));
  }
}
