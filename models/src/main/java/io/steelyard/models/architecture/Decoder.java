package io.steelyard.models.architecture;

import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Matrix;
import io.steelyard.kernels.Rope;
import io.steelyard.kernels.Rows;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A transformer of blocks, as a family's file composes it: embedding, blocks, norm and output.
 *
 * @param embedding rows of tokens
 * @param embeddingFactor multiplies what is looked up
 * @param learnedPositions rows added to it, one a position, where a model has them
 * @param outputNorm of the last block's output
 * @param output rows of tokens
 * @param softCap of the logits; 0 for none
 */
record Decoder(
    Kernels kernels,
    Config config,
    Weights weights,
    Matrix embedding,
    float embeddingFactor,
    Optional<Matrix> learnedPositions,
    List<Block> blocks,
    Norm outputNorm,
    Matrix output,
    float softCap)
    implements Architecture {

  /** The same with another factor for the embedding. */
  Decoder scaled(float factor) {
    return with(factor, learnedPositions, softCap);
  }

  /** The same with learned positions. */
  Decoder positioned(Matrix table) {
    return with(embeddingFactor, Optional.of(table), softCap);
  }

  /** The same with capped logits. */
  Decoder capped(float cap) {
    return with(embeddingFactor, learnedPositions, cap);
  }

  private Decoder with(float factor, Optional<Matrix> positions, float cap) {
    return new Decoder(
        kernels, config, weights, embedding, factor, positions, blocks, outputNorm, output, cap);
  }

  @Override
  public boolean causal() {
    return blocks.getFirst().attention().rule().causal();
  }

  @Override
  public int firstContext() {
    return turns().stream().mapToInt(Positions::upTo).min().orElse(Integer.MAX_VALUE);
  }

  /** The rotations of all blocks, each once. */
  private Set<Positions> turns() {
    Set<Positions> turns = new LinkedHashSet<>();
    blocks.forEach(block -> block.attention().positions().ifPresent(turns::add));
    return turns;
  }

  @Override
  public Pass newPass(Arena arena, int batch) {
    return new DecoderPass(arena, batch);
  }

  private final class DecoderPass implements Pass {
    private final Rows hidden;
    private final Rows normed;
    private final Rows queryKeyValue;
    private final Rows queries;
    private final Rows keys;
    private final Rows values;
    private final Rows attended;
    private final Rows delta;
    private final List<FeedForwardPass> feedForwards;
    private final int[] positions;
    private final Map<Positions, Rows> angles = new HashMap<>();
    private final List<Positions> turns = List.copyOf(turns());
    private final List<Rows> allocated = new ArrayList<>();
    private final Arena arena;
    private final int batch;

    DecoderPass(Arena arena, int batch) {
      this.arena = arena;
      this.batch = batch;
      int q = config.queryWidth();
      int kv = config.kvWidth();
      hidden = rows(config.hidden());
      normed = rows(config.hidden());
      delta = rows(config.hidden());
      // Attention and the feed-forward part take turns at it.
      Rows inner = rows(Math.max(2 * (q + kv), FeedForwardPass.inner(blocks)));
      queryKeyValue = inner.columns(0, q + 2 * kv);
      queries = queryKeyValue.columns(0, q);
      keys = queryKeyValue.columns(q, kv);
      values = queryKeyValue.columns(q + kv, kv);
      attended = inner.columns(q + 2 * kv, q);
      feedForwards = FeedForwardPass.of(kernels, blocks, inner, this::rows);
      positions = new int[learnedPositions.isPresent() ? batch : 0];
      turns.forEach(turn -> angles.put(turn, rows(turn.usual().dimensions())));
    }

    private Rows rows(int width) {
      Rows rows = Rows.allocateApart(arena, batch, width);
      allocated.add(rows);
      return rows;
    }

    @Override
    public Rows forward(List<Span> spans, int[] ids, int from, LayerObserver observer) {
      int tokens = 0;
      for (int i = 0; i < spans.size(); i++) {
        place(spans.get(i), tokens);
        tokens += spans.get(i).tokens();
      }
      embed(ids, from, tokens);
      observer.output(0, hidden, tokens);
      for (int i = 0; i < blocks.size(); i++) {
        Block block = blocks.get(i);
        attend(block, spans, i, tokens);
        Rows input = normed(block.feedForwardNorm(), tokens);
        feedForwards.get(i).run(input, delta, tokens);
        add(block.feedForwardPostNorm(), tokens);
        observer.output(i + 1, hidden, tokens);
      }
      for (int i = 0; i < spans.size(); i++) {
        Span span = spans.get(i);
        span.cache().advance(span.end() - span.cache().length());
      }
      return hidden;
    }

    /** Tells where in its sequence each token of a span is, whose first has this row. */
    private void place(Span span, int row) {
      for (int i = 0; i < turns.size(); i++) {
        Rows out = angles.get(turns.get(i)).from(row);
        turns.get(i).angles(span.extended(), span.position(), span.tokens(), out);
      }
      if (learnedPositions.isPresent()) {
        for (int i = 0; i < span.tokens(); i++) {
          positions[row + i] = span.position() + i;
        }
      }
    }

    private void embed(int[] ids, int from, int tokens) {
      kernels.embed(embedding, ids, from, tokens, hidden);
      if (embeddingFactor != 1) {
        kernels.scale(hidden, embeddingFactor, tokens);
      }
      if (learnedPositions.isPresent()) {
        kernels.embed(learnedPositions.get(), positions, 0, tokens, delta);
        kernels.add(hidden, delta, tokens);
      }
    }

    private void attend(Block block, List<Span> spans, int layer, int tokens) {
      SelfAttention attention = block.attention();
      Rows input = normed(block.attentionNorm(), tokens);
      kernels.matmul(attention.queryKeyValue(), input, queryKeyValue, tokens);
      if (attention.bias().isPresent()) {
        kernels.addBias(queryKeyValue, attention.bias().get(), tokens);
      }
      if (attention.queryNorm().isPresent()) {
        attention.queryNorm().get().apply(kernels, queries, queries, tokens);
        attention.keyNorm().orElseThrow().apply(kernels, keys, keys, tokens);
      }
      if (attention.positions().isPresent()) {
        Rope rope = attention.positions().get().usual();
        Rows turn = angles.get(attention.positions().get());
        kernels.rope(rope, turn, queries, config.headDimension(), tokens);
        kernels.rope(rope, turn, keys, config.headDimension(), tokens);
      }
      for (int i = 0; i < spans.size(); i++) {
        spans.get(i).at(layer);
      }
      kernels.replace(spans, keys, values);
      kernels.attention(queries, spans, attention.rule(), attended);
      kernels.matmul(attention.output(), attended, delta, tokens);
      if (attention.outputBias().isPresent()) {
        kernels.addBias(delta, attention.outputBias().get(), tokens);
      }
      add(block.attentionPostNorm(), tokens);
    }

    private Rows normed(Optional<Norm> norm, int tokens) {
      if (norm.isEmpty()) {
        return hidden;
      }
      norm.get().apply(kernels, hidden, normed, tokens);
      return normed;
    }

    /** Adds what a part of a block gave to the hidden state. */
    private void add(Optional<Norm> norm, int tokens) {
      if (norm.isPresent()) {
        norm.get().apply(kernels, delta, delta, tokens);
      }
      kernels.add(hidden, delta, tokens);
    }

    @Override
    public void logits(Rows hidden, int tokens, Rows out) {
      kernels.matmul(output, finalStates(hidden, tokens), out, tokens);
      if (softCap > 0) {
        kernels.softCap(out, softCap, tokens);
      }
    }

    @Override
    public Rows finalStates(Rows hidden, int tokens) {
      outputNorm.apply(kernels, hidden, normed, tokens);
      return normed;
    }

    @Override
    public long bytes() {
      long bytes = 0;
      for (Rows rows : allocated) {
        bytes += rows.data().byteSize();
      }
      return bytes;
    }
  }
}
