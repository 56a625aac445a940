package io.steelyard.models.quantize;

import io.steelyard.models.gguf.Metadata;
import io.steelyard.models.gguf.ValueType;

/**
 * What of a model's shape decides on its matrices' types.
 *
 * @param architecture as {@code general.architecture} names it
 * @param layers how many
 * @param queriesPerKey query heads that share a key-value head
 * @param experts of a mixture; 0 where there is none
 */
public record ModelShape(String architecture, int layers, int queriesPerKey, int experts) {

  static ModelShape of(Metadata metadata) {
    String architecture = metadata.string("general.architecture");
    long heads = first(metadata, architecture + ".attention.head_count", 1);
    long shared = first(metadata, architecture + ".attention.head_count_kv", heads);
    return new ModelShape(
        architecture,
        (int) metadata.integer(architecture + ".block_count", 1),
        (int) (shared <= 0 ? 1 : heads / shared),
        (int) metadata.integer(architecture + ".expert_count", 0));
  }

  /** Some models give a number for each layer: the first stands for all. */
  private static long first(Metadata metadata, String key, long fallback) {
    if (!metadata.has(key)) {
      return fallback;
    }
    if (metadata.type(key) != ValueType.ARRAY) {
      return metadata.integer(key);
    }
    int[] each = metadata.ints(key);
    return each.length == 0 ? fallback : each[0];
  }

  boolean isLlama70B() {
    return architecture.equals("llama") && layers == 80 && queriesPerKey > 1;
  }

  /** The first eighth of the layers, the last, and every third between them. */
  boolean getsMoreBits(int layer) {
    int eighth = layers / 8;
    return layer < eighth || layer >= 7 * layers / 8 || (layer - eighth) % 3 == 2;
  }
}
