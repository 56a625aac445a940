package io.steelyard.models.architecture;

import io.steelyard.kernels.Activation;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Matrix;
import io.steelyard.kernels.Rope;
import io.steelyard.kernels.Rows;
import io.steelyard.models.architecture.Weights.Wanted;
import io.steelyard.models.cache.KeyValueCache;
import io.steelyard.models.gguf.GgufFile;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

/**
 * The Llama family, which in GGUF files covers Llama, SmolLM2 and Mistral: pre-norm blocks of
 * grouped-query attention with rotary positions and a gated feed-forward part.
 *
 * <p>Source: Touvron et al., "LLaMA" (2023) and "Llama 2" (2023). Query and key rows are permuted
 * in these files so that rotated pairs lie side by side.
 */
final class Llama implements Architecture {
  static final String NAME = "llama";

  private record Layer(
      Rows attentionNorm,
      Matrix queryKeyValue,
      Matrix attentionOutput,
      Rows feedForwardNorm,
      Matrix gateUp,
      Matrix down) {}

  private final Kernels kernels;
  private final Config config;
  private final Weights weights;
  private final Rope rope;
  private final Matrix embedding;
  private final List<Layer> layers = new ArrayList<>();
  private final Rows outputNorm;
  private final Matrix output;

  Llama(GgufFile file, Kernels kernels, Arena arena) {
    this.kernels = kernels;
    weights = new Weights(file, kernels, arena);
    config = Config.of(file.metadata(), NAME, file.require("token_embd.weight").rows());
    int hidden = config.hidden();
    int inner = config.feedForward();
    int kvWidth = config.kvWidth();
    Wanted embeddings = new Wanted("token_embd.weight", config.vocabulary(), hidden);
    boolean tied = !weights.has("output.weight");
    embedding = tied ? weights.matrix(embeddings) : weights.table(embeddings);
    for (int i = 0; i < config.layers(); i++) {
      String block = "blk." + i + ".";
      layers.add(
          new Layer(
              weights.vector(block + "attn_norm.weight", hidden),
              weights.matrix(
                  new Wanted(block + "attn_q.weight", config.queryWidth(), hidden),
                  new Wanted(block + "attn_k.weight", kvWidth, hidden),
                  new Wanted(block + "attn_v.weight", kvWidth, hidden)),
              weights.matrix(new Wanted(block + "attn_output.weight", hidden, config.queryWidth())),
              weights.vector(block + "ffn_norm.weight", hidden),
              weights.matrix(
                  new Wanted(block + "ffn_gate.weight", inner, hidden),
                  new Wanted(block + "ffn_up.weight", inner, hidden)),
              weights.matrix(new Wanted(block + "ffn_down.weight", hidden, inner))));
    }
    outputNorm = weights.vector("output_norm.weight", hidden);
    output =
        tied ? embedding : weights.matrix(new Wanted("output.weight", config.vocabulary(), hidden));
    rope =
        new Rope(
            Rope.Layout.INTERLEAVED,
            config.ropeDimensions(),
            config.ropeTheta(),
            config.ropeScale(),
            weights.values("rope_freqs.weight", config.ropeDimensions() / 2));
    weights.requireAllTaken(NAME);
  }

  @Override
  public Config config() {
    return config;
  }

  @Override
  public Weights weights() {
    return weights;
  }

  @Override
  public Pass newPass(Arena arena, int batch) {
    return new LlamaPass(arena, batch);
  }

  private final class LlamaPass implements Pass {
    private final Rows hidden;
    private final Rows normed;
    private final Rows queryKeyValue;
    private final Rows queries;
    private final Rows keys;
    private final Rows values;
    private final Rows attended;
    private final Rows delta;
    private final Rows gateUp;
    private final Rows gate;
    private final Rows up;
    private final Rows angles;

    LlamaPass(Arena arena, int batch) {
      int q = config.queryWidth();
      int kv = config.kvWidth();
      int inner = config.feedForward();
      hidden = Rows.allocateApart(arena, batch, config.hidden());
      normed = Rows.allocateApart(arena, batch, config.hidden());
      queryKeyValue = Rows.allocateApart(arena, batch, q + 2 * kv);
      queries = queryKeyValue.columns(0, q);
      keys = queryKeyValue.columns(q, kv);
      values = queryKeyValue.columns(q + kv, kv);
      attended = Rows.allocateApart(arena, batch, q);
      delta = Rows.allocateApart(arena, batch, config.hidden());
      gateUp = Rows.allocateApart(arena, batch, 2 * inner);
      gate = gateUp.columns(0, inner);
      up = gateUp.columns(inner, inner);
      angles = rope.allocateAngles(arena, batch);
    }

    @Override
    public Rows forward(
        KeyValueCache cache, int[] ids, int from, int tokens, LayerObserver observer) {
      int position = cache.length();
      int head = config.headDimension();
      float scale = (float) (1 / Math.sqrt(head));
      kernels.embed(embedding, ids, from, tokens, hidden);
      observer.output(0, hidden, tokens);
      rope.angles(position, tokens, angles);
      for (int i = 0; i < layers.size(); i++) {
        Layer layer = layers.get(i);
        kernels.rmsNorm(hidden, layer.attentionNorm(), config.epsilon(), normed, tokens);
        kernels.matmul(layer.queryKeyValue(), normed, queryKeyValue, tokens);
        kernels.rope(rope, angles, queries, head, tokens);
        kernels.rope(rope, angles, keys, head, tokens);
        kernels.store(cache.layer(i), keys, values, position, tokens);
        kernels.attention(queries, cache.layer(i), position, scale, attended, tokens);
        kernels.matmul(layer.attentionOutput(), attended, delta, tokens);
        kernels.add(hidden, delta, tokens);

        kernels.rmsNorm(hidden, layer.feedForwardNorm(), config.epsilon(), normed, tokens);
        kernels.matmul(layer.gateUp(), normed, gateUp, tokens);
        kernels.gate(Activation.SILU, gate, up, gate, tokens);
        kernels.matmul(layer.down(), gate, delta, tokens);
        kernels.add(hidden, delta, tokens);
        observer.output(i + 1, hidden, tokens);
      }
      cache.advance(tokens);
      return hidden;
    }

    @Override
    public void logits(Rows hidden, int tokens, Rows out) {
      kernels.rmsNorm(hidden, outputNorm, config.epsilon(), normed, tokens);
      kernels.matmul(output, normed, out, tokens);
    }

    @Override
    public long bytes() {
      long bytes = 0;
      for (Rows rows : List.of(hidden, normed, queryKeyValue, attended, delta, gateUp, angles)) {
        bytes += rows.data().byteSize();
      }
      return bytes;
    }
  }
}
