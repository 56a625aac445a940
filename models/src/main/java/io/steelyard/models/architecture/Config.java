package io.steelyard.models.architecture;

import io.steelyard.models.ModelException;
import io.steelyard.models.gguf.Metadata;

/**
 * The shape of a decoder-only transformer, as its file states it.
 *
 * @param architecture the family's name in GGUF files
 * @param layers transformer blocks
 * @param hidden width of the residual stream
 * @param heads query heads
 * @param kvHeads key-value heads, a divisor of {@code heads}
 * @param headDimension values of a head
 * @param feedForward inner width of the feed-forward part
 * @param vocabulary number of tokens
 * @param trainedContext positions that the model was trained for
 * @param epsilon of the norms
 */
public record Config(
    String architecture,
    int layers,
    int hidden,
    int heads,
    int kvHeads,
    int headDimension,
    int feedForward,
    int vocabulary,
    int trainedContext,
    float epsilon) {

  /**
   * Reads the shape.
   *
   * @param vocabulary rows of the embedding
   * @throws ModelException if a value is missing, absurd, or asks for what isn't supported
   */
  public static Config of(Metadata metadata, String architecture, long vocabulary) {
    Keys keys = new Keys(metadata, architecture);
    int hidden = keys.count("embedding_length");
    int heads = keys.count("attention.head_count");
    int kvHeads = keys.count("attention.head_count_kv", heads);
    int headDimension = keys.count("attention.key_length", Math.max(1, hidden / heads));
    int valueDimension = keys.count("attention.value_length", headDimension);
    if (heads % kvHeads != 0) {
      throw metadata.fault(
          "the model has %d query heads for %d key-value heads; they must divide"
              .formatted(heads, kvHeads));
    }
    if (valueDimension != headDimension) {
      throw metadata.fault(
          "the model's keys have %d values and its values %d; only equal ones are supported"
              .formatted(headDimension, valueDimension));
    }
    return new Config(
        architecture,
        keys.count("block_count"),
        hidden,
        heads,
        kvHeads,
        headDimension,
        keys.count("feed_forward_length"),
        keys.bounded("the vocabulary", vocabulary),
        keys.count("context_length"),
        (float) keys.positive(epsilonKey(metadata, architecture)));
  }

  private static String epsilonKey(Metadata metadata, String architecture) {
    String ofLayerNorm = "attention.layer_norm_epsilon";
    return metadata.has(architecture + "." + ofLayerNorm)
        ? ofLayerNorm
        : "attention.layer_norm_rms_epsilon";
  }

  /** Width of all query heads. */
  public int queryWidth() {
    return heads * headDimension;
  }

  /** Width of all key heads, and of all value heads. */
  public int kvWidth() {
    return kvHeads * headDimension;
  }

  /**
   * Checks that tokens are in the vocabulary.
   *
   * @throws ModelException if one isn't
   */
  public void requireTokens(int[] ids, int from, int to) {
    for (int i = from; i < to; i++) {
      if (ids[i] < 0 || ids[i] >= vocabulary) {
        throw new ModelException(
            "token id %d is not in the model's vocabulary of %d".formatted(ids[i], vocabulary));
      }
    }
  }
}
