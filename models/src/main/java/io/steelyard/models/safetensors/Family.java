package io.steelyard.models.safetensors;

import static io.steelyard.models.ForeignText.printable;

import io.steelyard.models.NearMatch;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;

/** The model families that can be presented as GGUF, by the names that both sides give them. */
enum Family {
  GPT2("gpt2", "gpt2"),
  LLAMA("llama", "llama mistral"),
  QWEN2("qwen2", "qwen2"),
  QWEN3("qwen3", "qwen3"),
  QWEN3_MOE("qwen3moe", "qwen3_moe"),
  GEMMA2("gemma2", "gemma2"),
  GEMMA3("gemma3", "gemma3_text gemma3"),
  PHI3("phi3", "phi3"),
  SMOLLM3("smollm3", "smollm3"),
  OLMO2("olmo2", "olmo2"),
  DREAM("dream", "Dream");

  private final String gguf;
  private final String modelTypes;

  Family(String gguf, String modelTypes) {
    this.gguf = gguf;
    this.modelTypes = modelTypes;
  }

  private Stream<String> modelTypes() {
    return Arrays.stream(modelTypes.split(" ", -1));
  }

  /**
   * The family that a configuration names as its {@code model_type}.
   *
   * @throws io.steelyard.models.ModelException if it is none of these
   */
  static Family of(CheckpointConfig config) {
    String type =
        config
            .string("model_type")
            .orElseThrow(() -> config.fault("'model_type' is missing; the model needs it"));
    return Arrays.stream(values())
        .filter(family -> family.modelTypes().anyMatch(type::equals))
        .findFirst()
        .orElseThrow(
            () ->
                config.fault(
                    "the model is of type '%s', which isn't supported; nearest to it are %s of those that are: %s"
                        .formatted(
                            printable(type),
                            String.join(", ", NearMatch.nearest(type, allModelTypes())),
                            String.join(", ", allModelTypes()))));
  }

  private static List<String> allModelTypes() {
    return Arrays.stream(values()).flatMap(Family::modelTypes).toList();
  }

  /** {@code general.architecture} in GGUF. */
  String gguf() {
    return gguf;
  }

  /**
   * Whether rows of queries and keys are reordered so that values which are rotated together lie
   * side by side, as llama.cpp's kernels for these families want them.
   */
  boolean permutesHeads() {
    return this == LLAMA || this == SMOLLM3;
  }

  /** Whether norms are stored less 1. */
  boolean storesNormsLessOne() {
    return this == GEMMA2 || this == GEMMA3;
  }

  /** Whether a norm stands after attention rather than before the feed-forward part. */
  boolean normsAfterAttention() {
    return this == GEMMA2 || this == GEMMA3 || this == OLMO2;
  }

  /** Values of a head where the configuration doesn't say: what the transformers library takes. */
  OptionalInt usualHeadDimension(int hidden, int heads) {
    return switch (this) {
      case LLAMA -> OptionalInt.of(Math.max(1, hidden / heads));
      case GEMMA2, GEMMA3 -> OptionalInt.of(256);
      case QWEN3 -> OptionalInt.of(128);
      case GPT2, QWEN2, QWEN3_MOE, PHI3, SMOLLM3, OLMO2, DREAM -> OptionalInt.empty();
    };
  }

  /** Base of the rotary frequencies where the configuration doesn't say. */
  double usualTheta() {
    return switch (this) {
      case GEMMA3 -> 1_000_000;
      case SMOLLM3 -> 2_000_000;
      case GPT2, LLAMA, QWEN2, QWEN3, QWEN3_MOE, GEMMA2, PHI3, OLMO2, DREAM -> 10_000;
    };
  }
}
