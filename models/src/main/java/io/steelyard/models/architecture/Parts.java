package io.steelyard.models.architecture;

import io.steelyard.kernels.Activation;
import io.steelyard.kernels.AttentionRule;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Matrix;
import io.steelyard.kernels.Rope;
import io.steelyard.kernels.Rows;
import io.steelyard.models.ModelFile;
import io.steelyard.models.architecture.FeedForward.Gated;
import io.steelyard.models.architecture.FeedForward.Mixture;
import io.steelyard.models.architecture.FeedForward.Plain;
import io.steelyard.models.architecture.Weights.Wanted;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * What architectures are composed of, taken from a model's file by the names that GGUF gives its
 * tensors. Biases are taken where the file has them.
 */
final class Parts {
  private final Kernels kernels;
  private final Weights weights;
  private final Keys keys;
  private final Config config;

  Parts(ModelFile file, Kernels kernels, Arena arena) {
    this.kernels = kernels;
    weights = new Weights(file, kernels, arena);
    keys = new Keys(file.metadata(), file.metadata().string("general.architecture"));
    config =
        Config.of(file.metadata(), keys.architecture(), file.require("token_embd.weight").rows());
  }

  Config config() {
    return config;
  }

  Keys keys() {
    return keys;
  }

  private static String name(int layer, String part) {
    return "blk." + layer + "." + part;
  }

  /** A block's root-mean-square norm of the hidden state. */
  Norm rmsNorm(int layer, String part) {
    return rmsNorm(name(layer, part), config.hidden());
  }

  private Norm rmsNorm(String name, int width) {
    return new Norm(
        Norm.Kind.RMS, weights.vector(name + ".weight", width), Optional.empty(), config.epsilon());
  }

  /** A block's layer norm of the hidden state. */
  Norm layerNorm(int layer, String part) {
    return layerNorm(name(layer, part));
  }

  private Norm layerNorm(String name) {
    return new Norm(
        Norm.Kind.LAYER,
        weights.vector(name + ".weight", config.hidden()),
        weights.optionalVector(config.hidden(), new Wanted(name + ".bias", 1, config.hidden())),
        config.epsilon());
  }

  /** Causal attention over all earlier positions, scaled as usual. */
  AttentionRule causal() {
    return AttentionRule.causal((float) (1 / Math.sqrt(config.headDimension())));
  }

  /** How queries and keys are turned, by what the file says of it. */
  Positions rope(Rope.Layout layout) {
    return RopeScaling.read(keys, config, weights, layout);
  }

  /** A block's attention, of one tensor for queries, keys and values or of three. */
  SelfAttention attention(int layer, AttentionRule rule) {
    int hidden = config.hidden();
    int width = config.queryWidth() + 2 * config.kvWidth();
    boolean fused = weights.has(name(layer, "attn_qkv.weight"));
    Wanted[] wanted =
        fused
            ? new Wanted[] {new Wanted(name(layer, "attn_qkv"), width, hidden)}
            : new Wanted[] {
              new Wanted(name(layer, "attn_q"), config.queryWidth(), hidden),
              new Wanted(name(layer, "attn_k"), config.kvWidth(), hidden),
              new Wanted(name(layer, "attn_v"), config.kvWidth(), hidden)
            };
    String output = name(layer, "attn_output");
    return new SelfAttention(
        matrix(wanted),
        bias(wanted),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        matrix(new Wanted(output, hidden, config.queryWidth())),
        bias(new Wanted(output, hidden, config.queryWidth())),
        rule);
  }

  /** The same with norms of each head's query and key. */
  SelfAttention headNormed(int layer, AttentionRule rule) {
    return normed(layer, rule, config.headDimension(), config.headDimension());
  }

  /** The same with norms of all heads' queries together, and of their keys. */
  SelfAttention widthNormed(int layer, AttentionRule rule) {
    return normed(layer, rule, config.queryWidth(), config.kvWidth());
  }

  private SelfAttention normed(int layer, AttentionRule rule, int queries, int keys) {
    return attention(layer, rule)
        .normed(
            rmsNorm(name(layer, "attn_q_norm"), queries),
            rmsNorm(name(layer, "attn_k_norm"), keys));
  }

  /** A block's gated feed-forward part, with gate and up in one tensor or in two. */
  FeedForward gated(int layer, Activation activation) {
    if (keys.countOrNone("expert_count") > 0) {
      throw keys.metadata()
          .fault(
              "the model is a mixture of experts, which isn't supported for '%s'; choose a dense model"
                  .formatted(keys.architecture()));
    }
    int inner = config.feedForward();
    int hidden = config.hidden();
    boolean split = weights.has(name(layer, "ffn_gate.weight"));
    return new Gated(
        split
            ? matrix(
                new Wanted(name(layer, "ffn_gate"), inner, hidden),
                new Wanted(name(layer, "ffn_up"), inner, hidden))
            : matrix(new Wanted(name(layer, "ffn_up"), 2L * inner, hidden)),
        activation,
        matrix(new Wanted(name(layer, "ffn_down"), hidden, inner)));
  }

  /** A block's feed-forward part without a gate. */
  FeedForward plain(int layer, Activation activation) {
    Wanted up = new Wanted(name(layer, "ffn_up"), config.feedForward(), config.hidden());
    Wanted down = new Wanted(name(layer, "ffn_down"), config.hidden(), config.feedForward());
    return new Plain(matrix(up), bias(up), activation, matrix(down), bias(down));
  }

  /** A block's mixture of gated experts. */
  FeedForward mixture(int layer, Activation activation) {
    int experts = keys.count("expert_count");
    int used = keys.count("expert_used_count");
    int inner = keys.count("expert_feed_forward_length");
    int hidden = config.hidden();
    if (used > experts) {
      throw keys.metadata()
          .fault("the model uses %d of %d experts; the file is damaged".formatted(used, experts));
    }
    List<Matrix> gateUp =
        weights.stacks(
            experts,
            new Wanted(name(layer, "ffn_gate_exps.weight"), inner, hidden),
            new Wanted(name(layer, "ffn_up_exps.weight"), inner, hidden));
    List<Matrix> down =
        weights.stacks(experts, new Wanted(name(layer, "ffn_down_exps.weight"), hidden, inner));
    return new Mixture(
        matrix(new Wanted(name(layer, "ffn_gate_inp"), experts, hidden)),
        IntStream.range(0, experts)
            .mapToObj(i -> new Gated(gateUp.get(i), activation, down.get(i)))
            .toList(),
        used);
  }

  private Matrix matrix(Wanted... wanted) {
    return weights.matrix(Arrays.stream(wanted).map(Parts::weightOf).toArray(Wanted[]::new));
  }

  /** A matrix of which rows are looked up, and nothing else. */
  private Matrix table(Wanted wanted) {
    return weights.table(weightOf(wanted));
  }

  private static Wanted weightOf(Wanted wanted) {
    return new Wanted(wanted.name() + ".weight", wanted.rows(), wanted.columns());
  }

  /** The biases of some matrices, in one row; empty where the file has none. */
  private Optional<Rows> bias(Wanted... matrices) {
    Wanted[] wanted = new Wanted[matrices.length];
    int width = 0;
    for (int i = 0; i < matrices.length; i++) {
      wanted[i] = new Wanted(matrices[i].name() + ".bias", 1, matrices[i].rows());
      width += (int) matrices[i].rows();
    }
    return weights.optionalVector(width, wanted);
  }

  /** The model of these blocks, with a root-mean-square norm at its end. */
  Decoder decoder(IntFunction<Block> block) {
    return decoder(block, rmsNorm("output_norm", config.hidden()));
  }

  /** The model of these blocks, with a layer norm at its end and a table of learned positions. */
  Decoder positionedDecoder(IntFunction<Block> block) {
    Matrix positions = table(new Wanted("position_embd", config.trainedContext(), config.hidden()));
    return decoder(block, layerNorm("output_norm")).positioned(positions);
  }

  private Decoder decoder(IntFunction<Block> block, Norm outputNorm) {
    Wanted tokens = new Wanted("token_embd", config.vocabulary(), config.hidden());
    boolean tied = !weights.has("output.weight");
    Matrix embedding = tied ? matrix(tokens) : table(tokens);
    Matrix output =
        tied ? embedding : matrix(new Wanted("output", config.vocabulary(), config.hidden()));
    List<Block> blocks = IntStream.range(0, config.layers()).mapToObj(block).toList();
    weights.requireAllTaken(keys.architecture());
    return new Decoder(
        kernels, config, weights, embedding, 1, Optional.empty(), blocks, outputNorm, output, 0);
  }
}
