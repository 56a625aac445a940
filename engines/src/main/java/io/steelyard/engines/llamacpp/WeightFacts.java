package io.steelyard.engines.llamacpp;

import io.steelyard.kernels.DataType;
import io.steelyard.models.ModelException;
import io.steelyard.models.gguf.GgufFile;
import io.steelyard.models.gguf.WeightPrecision;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/**
 * How weights are stored and multiplied.
 *
 * @param precision by the share of parameters
 * @param activations how llama.cpp rounds activations before it multiplies such weights
 */
record WeightFacts(String precision, String activations) {

  /**
   * Starts to read a file's tensor table, beside llama.cpp that loads the same file: its cold start
   * must not wait for what only the fairness sheet needs.
   */
  static Reading read(Path file) {
    return new Reading(CompletableFuture.supplyAsync(() -> readNow(file)));
  }

  /** A reading that may still go on. */
  record Reading(CompletableFuture<Optional<WeightFacts>> result) {
    /**
     * The facts of a loaded model. Types that Steelyard's own reader doesn't know are told by
     * llama.cpp's name for the mixture.
     */
    WeightFacts of(LlamaModel model) {
      return result.join().orElseGet(() -> new WeightFacts(model.fileType(), "int8 blocks"));
    }
  }

  private static Optional<WeightFacts> readNow(Path file) {
    try (GgufFile gguf = GgufFile.open(file)) {
      return Optional.of(
          new WeightFacts(
              WeightPrecision.describe(gguf.tensors()),
              WeightPrecision.parameters(gguf.tensors()).keySet().stream()
                  .map(WeightFacts::activations)
                  .distinct()
                  .collect(Collectors.joining(" + "))));
    } catch (ModelException e) {
      return Optional.empty();
    }
  }

  /**
   * ggml's {@code vec_dot_type}: Q8_0 or Q8_1 blocks for blocks of 32 to 128, Q8_K for those of
   * 256.
   */
  private static String activations(DataType type) {
    return switch (type) {
      case F16 -> "f16";
      case BF16 -> "bf16";
      case Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q8_1, IQ4_NL -> "int8 per 32";
      case MXFP4, NVFP4, Q1_0, Q2_0 -> "int8 per 32";
      default -> type.blockSize() == 256 ? "int8 per 256" : "f32";
    };
  }
}
