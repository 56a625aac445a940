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
 * @param ropeDimensions how many of a head's values are turned
 * @param ropeTheta base of the rotary frequencies
 * @param ropeScale multiplies positions: 1, or the inverse of a linear scaling factor
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
    float epsilon,
    int ropeDimensions,
    double ropeTheta,
    double ropeScale) {

  /** Larger than any model's dimensions; keeps products of two of them within 63 bits. */
  private static final long LARGEST = 1 << 28;

  /**
   * Reads the shape.
   *
   * @param vocabulary rows of the embedding
   * @throws ModelException if a value is missing, absurd, or asks for what isn't supported
   */
  public static Config of(Metadata metadata, String architecture, long vocabulary) {
    Reader reader = new Reader(metadata, architecture + ".");
    int hidden = reader.count("embedding_length");
    int heads = reader.count("attention.head_count");
    int kvHeads = reader.count("attention.head_count_kv", heads);
    int headDimension = reader.count("attention.key_length", Math.max(1, hidden / heads));
    int valueDimension = reader.count("attention.value_length", headDimension);
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
    int ropeDimensions = reader.count("rope.dimension_count", headDimension);
    if (ropeDimensions > headDimension || ropeDimensions % 2 != 0) {
      throw metadata.fault(
          "the model turns %d of %d values of a head; that must be even and no more"
              .formatted(ropeDimensions, headDimension));
    }
    if (reader.integer("expert_count", 0) > 0) {
      throw metadata.fault(
          "the model is a mixture of experts, which isn't supported; choose a dense model");
    }
    return new Config(
        architecture,
        reader.count("block_count"),
        hidden,
        heads,
        kvHeads,
        headDimension,
        reader.count("feed_forward_length"),
        reader.bounded("the vocabulary", vocabulary),
        reader.count("context_length"),
        (float) reader.positive("attention.layer_norm_rms_epsilon"),
        ropeDimensions,
        reader.positive("rope.freq_base", 10_000),
        1 / reader.linearScaling());
  }

  /** Width of all query heads. */
  public int queryWidth() {
    return heads * headDimension;
  }

  /** Width of all key heads, and of all value heads. */
  public int kvWidth() {
    return kvHeads * headDimension;
  }

  private record Reader(Metadata metadata, String prefix) {
    int count(String key) {
      return bounded(prefix + key, metadata.integer(prefix + key));
    }

    int count(String key, int fallback) {
      return bounded(prefix + key, metadata.integer(prefix + key, fallback));
    }

    int bounded(String what, long value) {
      if (value < 1 || value > LARGEST) {
        throw metadata.fault(
            "%s is %d where a number from 1 to %d is needed; the file is damaged"
                .formatted(what, value, LARGEST));
      }
      return (int) value;
    }

    long integer(String key, long fallback) {
      return metadata.integer(prefix + key, fallback);
    }

    double positive(String key) {
      return positive(key, metadata.real(prefix + key));
    }

    double positive(String key, double fallback) {
      double value = metadata.real(prefix + key, fallback);
      if (!(value > 0) || Double.isInfinite(value)) {
        throw metadata.fault(
            "%s%s is %s where a positive number is needed; the file is damaged"
                .formatted(prefix, key, value));
      }
      return value;
    }

    double linearScaling() {
      String type = metadata.string(prefix + "rope.scaling.type", "");
      return switch (type) {
        case "none" -> 1;
        // Older files name a factor and no type.
        case "" -> positive("rope.scale_linear", 1);
        case "linear" -> positive("rope.scaling.factor", 1);
        default ->
            throw metadata.fault(
                "the model scales its positions by '%s', which isn't supported; only linear is"
                    .formatted(type));
      };
    }
  }
}
