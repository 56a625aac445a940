package io.steelyard.models.synth;

import io.steelyard.kernels.DataType;
import io.steelyard.models.ModelException;
import io.steelyard.models.ProgressListener;
import io.steelyard.models.UnknownNameException;
import io.steelyard.models.diffusion.DiffusionDecoder;
import io.steelyard.models.gguf.GgufWriter;
import io.steelyard.models.gguf.Metadata;
import io.steelyard.models.quantize.ModelShape;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Writes random models. Equal shape, type and seed give equal bytes on every machine.
 *
 * <p>The weights are scaled so that a forward pass behaves like a trained model's: attention scores
 * have a deviation of about two and logits one of about three, greedy choices differ from position
 * to position, and rounding noise isn't blown up on its way through the layers. For that the first
 * layer outweighs the embedding (or a tied output would repeat its input), later layers add a small
 * share each, and attention, which makes positions alike, adds less than the feed-forward part.
 */
public final class Synth {
  /** Metadata key whose value {@code random} marks a model made here. */
  public static final String WEIGHTS_KEY = "steelyard.weights";

  /** The value of {@link #WEIGHTS_KEY}. */
  public static final String RANDOM = "random";

  /** Goes up whenever the same shape, type and seed would give other bytes than before. */
  public static final int GENERATION = 2;

  private static final double SCORE_DEVIATION = 2;
  private static final double ATTENTION_DEVIATION = 0.5;
  private static final double FEED_FORWARD_DEVIATION = 1.7;
  private static final double LATER_LAYERS_SHARE = 0.3;
  private static final double LOGIT_DEVIATION = 3;
  private static final double NORM_DEVIATION = 0.1;
  private static final double BIAS_DEVIATION = 0.1;

  /** The architecture of models that fill in masks. */
  public static final String DREAM = "dream";

  private static final List<Shape> SHAPES =
      List.of(
          new Shape(
              "llama-135m",
              "SmolLM2-135M",
              "llama",
              30,
              576,
              9,
              3,
              1536,
              49152,
              8192,
              100_000f,
              1e-5f,
              true,
              false),
          new Shape(
              "llama-1b",
              "Llama-3.2-1B",
              "llama",
              16,
              2048,
              32,
              8,
              8192,
              128_256,
              131_072,
              500_000f,
              1e-5f,
              true,
              false),
          new Shape(
              "qwen2-7b",
              "Qwen2-7B",
              "qwen2",
              28,
              3584,
              28,
              4,
              18_944,
              152_064,
              32_768,
              1_000_000f,
              1e-6f,
              false,
              true),
          dream("dream-s", "small", 12, 768),
          dream("dream-m", "medium", 24, 1024),
          dream("dream-l", "large", 24, 1536));

  /** A shape that fills in masks, in proportion like DiffuCoder but for its small vocabulary. */
  private static Shape dream(String name, String size, int layers, int hidden) {
    int heads = hidden / 64;
    return new Shape(
        name,
        "DiffuCoder, " + size,
        DREAM,
        layers,
        hidden,
        heads,
        heads / 4,
        4 * hidden,
        32_768,
        2048,
        1_000_000f,
        1e-6f,
        false,
        true);
  }

  private Synth() {}

  /** The shapes that have a name. */
  public static List<Shape> shapes() {
    return SHAPES;
  }

  /**
   * A shape by its name.
   *
   * @throws ModelException listing the names if there is none such
   */
  public static Shape shapeOf(String name) {
    return SHAPES.stream()
        .filter(shape -> shape.name().equalsIgnoreCase(name))
        .findFirst()
        .orElseThrow(
            () ->
                new UnknownNameException(
                    "there is no shape '%s'; shapes are %s"
                        .formatted(
                            name,
                            SHAPES.stream().map(Shape::name).collect(Collectors.joining(", ")))));
  }

  /**
   * A mix of types by its name.
   *
   * @throws ModelException listing the names if there is none such
   */
  public static PrecisionMix mixOf(String name) {
    return Arrays.stream(PrecisionMix.values())
        .filter(mix -> mix.name().equalsIgnoreCase(name))
        .findFirst()
        .orElseThrow(
            () ->
                new UnknownNameException(
                    "a random model can't have type '%s'; types are %s"
                        .formatted(name, PrecisionMix.names())));
  }

  /**
   * Writes a model. Matrices have the types of the mix, norms and biases are F32.
   *
   * @param shape its shape
   * @param mix of the types of its matrices
   * @param seed of all weights
   * @param out where to
   * @param listener hears bytes written
   * @throws ModelException if the file can't be written
   */
  public static void write(
      Shape shape, PrecisionMix mix, long seed, Path out, ProgressListener listener) {
    GgufWriter writer = new GgufWriter(new Metadata(out.toString(), metadata(shape, mix, seed)));
    new Tensors(writer, shape, mix, seed).add();
    writer.write(out, listener);
  }

  /** The type of a matrix with rows of this width. */
  static DataType typeOf(Shape shape, PrecisionMix mix, String tensor, int columns) {
    int queriesPerKey = shape.heads() / shape.keyValueHeads();
    return mix.scheme()
        .type(
            tensor,
            columns,
            new ModelShape(shape.architecture(), shape.layers(), queriesPerKey, 0),
            shape.tied());
  }

  private static Map<String, Object> metadata(Shape shape, PrecisionMix mix, long seed) {
    Map<String, Object> metadata = new LinkedHashMap<>();
    String prefix = shape.architecture() + ".";
    metadata.put("general.architecture", shape.architecture());
    metadata.put("general.type", "model");
    metadata.put(
        "general.name", "Random weights, %s %s, seed %d".formatted(shape.name(), mix.name(), seed));
    metadata.put(WEIGHTS_KEY, RANDOM);
    metadata.put("steelyard.shape", shape.name().toLowerCase(Locale.ROOT));
    metadata.put("steelyard.seed", Long.toString(seed));
    metadata.put(prefix + "block_count", shape.layers());
    metadata.put(prefix + "context_length", shape.context());
    metadata.put(prefix + "embedding_length", shape.hidden());
    metadata.put(prefix + "feed_forward_length", shape.feedForward());
    metadata.put(prefix + "attention.head_count", shape.heads());
    metadata.put(prefix + "attention.head_count_kv", shape.keyValueHeads());
    metadata.put(prefix + "attention.layer_norm_rms_epsilon", shape.epsilon());
    metadata.put(prefix + "rope.freq_base", shape.ropeTheta());
    metadata.put(prefix + "rope.dimension_count", shape.headSize());
    metadata.put(prefix + "vocab_size", shape.vocabulary());
    metadata.put("general.file_type", mix.scheme().fileType().orElseThrow());
    metadata.put("general.quantization_version", 2);
    metadata.putAll(new SyntheticTokenizer(shape.vocabulary()).metadata());
    if (shape.architecture().equals(DREAM)) {
      // A token that no text holds.
      metadata.put(DiffusionDecoder.MASK_KEY, shape.vocabulary() - 1);
    }
    return metadata;
  }

  private record Tensors(GgufWriter writer, Shape shape, PrecisionMix mix, long seed) {

    void add() {
      int hidden = shape.hidden();
      int keyValue = shape.keyValueWidth();
      int feedForward = shape.feedForward();
      matrix("token_embd", hidden, shape.vocabulary(), 1);
      for (int layer = 0; layer < shape.layers(); layer++) {
        String block = "blk." + layer + ".";
        double share = layer == 0 ? 1 : LATER_LAYERS_SHARE;
        norm(block + "attn_norm", 1);
        matrix(block + "attn_q", hidden, hidden, SCORE_DEVIATION);
        matrix(block + "attn_k", hidden, keyValue, 1);
        matrix(block + "attn_v", hidden, keyValue, 1);
        if (shape.biases()) {
          bias(block + "attn_q", hidden);
          bias(block + "attn_k", keyValue);
          bias(block + "attn_v", keyValue);
        }
        matrix(block + "attn_output", hidden, hidden, share * ATTENTION_DEVIATION);
        norm(block + "ffn_norm", 1);
        matrix(block + "ffn_gate", hidden, feedForward, 1);
        matrix(block + "ffn_up", hidden, feedForward, 1);
        matrix(block + "ffn_down", feedForward, hidden, share * FEED_FORWARD_DEVIATION);
      }
      norm("output_norm", LOGIT_DEVIATION);
      if (!shape.tied()) {
        matrix("output", hidden, shape.vocabulary(), 1);
      }
    }

    /** A matrix that gives vectors of unit deviation the one that is asked for. */
    private void matrix(String name, int columns, int rows, double deviation) {
      String weight = name + ".weight";
      DataType type = typeOf(shape, mix, weight, columns);
      tensor(weight, type, 0, deviation / Math.sqrt(columns), columns, rows);
    }

    private void norm(String name, double mean) {
      tensor(name + ".weight", DataType.F32, mean, NORM_DEVIATION * mean, shape.hidden());
    }

    private void bias(String name, int size) {
      tensor(name + ".bias", DataType.F32, 0, BIAS_DEVIATION, size);
    }

    /** A tensor of random values; those of the K types always have mean 0. */
    private void tensor(
        String name, DataType type, double mean, double deviation, int... dimensions) {
      SplitMix random = SplitMix.of(seed, name);
      writer.add(
          name,
          type,
          Arrays.stream(dimensions).asLongStream().toArray(),
          switch (type) {
            case Q4_K, Q5_K, Q6_K -> new RandomKBlocks(type, random, deviation);
            default -> new RandomWeights(type, random, mean, deviation);
          });
    }
  }
}
