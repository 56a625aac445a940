package io.steelyard.models.safetensors;

import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** Factors of rotary frequencies that GGUF keeps as tensors. */
final class RopeFactors {
  private RopeFactors() {}

  /** The factors by the names of their tensors; nothing where positions aren't stretched so. */
  static Map<String, float[]> of(CheckpointConfig config, Family family) {
    Map<String, float[]> factors = new LinkedHashMap<>();
    RopeConfig rope = RopeConfig.of(config);
    if (family.permutesHeads() && rope.type().equals("llama3")) {
      factors.put("rope_freqs.weight", llama3(config, family, rope));
    }
    if (family == Family.PHI3 && rope.parameters().path("long_factor").isArray()) {
      factors.put("rope_factors_long.weight", listed(config, rope, "long_factor"));
      factors.put("rope_factors_short.weight", listed(config, rope, "short_factor"));
    }
    return factors;
  }

  /**
   * Llama 3's: waves longer than the first context are stretched by the whole factor, short ones
   * not at all, those between by a share. Float32 throughout, as llama.cpp's converter computes
   * them.
   */
  private static float[] llama3(CheckpointConfig config, Family family, RopeConfig rope) {
    int dimension = ModelMetadata.headDimension(config, family);
    float theta = (float) rope.theta().orElse(family.usualTheta());
    float factor = (float) rope.number(config, "factor", 8);
    float low = (float) rope.number(config, "low_freq_factor", 1);
    float high = (float) rope.number(config, "high_freq_factor", 4);
    float context = (float) rope.originalContext(config).orElse(8192);
    float[] factors = new float[dimension / 2];
    for (int i = 0; i < factors.length; i++) {
      float frequency = 1 / (float) Math.pow(theta, 2f * i / dimension);
      float wave = 1 / frequency * (float) (2 * Math.PI);
      if (wave < context / high) {
        factors[i] = 1;
      } else if (wave > context / low) {
        factors[i] = factor;
      } else {
        float smooth = (1 / wave * context - low) / (high - low);
        factors[i] = 1 / ((1 - smooth) / factor + smooth);
      }
    }
    return factors;
  }

  private static float[] listed(CheckpointConfig config, RopeConfig rope, String name) {
    JsonNode list = rope.parameters().path(name);
    int count = PhiRope.dimensions(config, rope) / 2;
    if (list.size() != count) {
      throw config.fault(
          "'%s' has %d numbers where half the %d values of a head that turn are needed"
              .formatted(name, list.size(), 2 * count));
    }
    float[] factors = new float[count];
    for (int i = 0; i < count; i++) {
      factors[i] =
          (float)
              config
                  .positive(list.get(i), name)
                  .orElseThrow(() -> config.fault("'" + name + "' holds no number"));
    }
    return factors;
  }
}
