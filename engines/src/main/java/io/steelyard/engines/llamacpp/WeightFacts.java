package io.steelyard.engines.llamacpp;

import java.nio.file.Path;

/**
 * How weights are stored and multiplied.
 *
 * @param precision by the share of parameters
 * @param activations how llama.cpp rounds activations before it multiplies such weights
 */
record WeightFacts(String precision, String activations) {
  static WeightFacts of(Path file, LlamaModel model) {
    return new WeightFacts(model.fileType(), "unknown");
  }
}
