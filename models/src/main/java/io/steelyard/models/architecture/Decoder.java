package io.steelyard.models.architecture;

import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Matrix;
import io.steelyard.kernels.Rope;
import io.steelyard.kernels.Rows;
import io.steelyard.models.cache.KeyValueCache;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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
    private final Map<Rope, Rows> angles = new HashMap<>();
    private final List<Rope> ropes = new ArrayList<>();
    private final List<Rows> allocated = new ArrayList<>();
    private final Arena arena;
    private final int batch;

    /** Positions of the cache that the rotations were chosen for. */
    private int capacity;

    DecoderPass(Arena arena, int batch) {
      this.arena = arena;
      this.batch = batch;
      int q = config.queryWidth();
      int kv = config.kvWidth();
      hidden = rows(config.hidden());
      normed = rows(config.hidden());
      queryKeyValue = rows(q + 2 * kv);
      queries = queryKeyValue.columns(0, q);
      keys = queryKeyValue.columns(q, kv);
      values = queryKeyValue.columns(q + kv, kv);
      attended = rows(q);
      delta = rows(config.hidden());
      feedForwards = FeedForwardPass.of(kernels, blocks, this::rows);
      positions = new int[learnedPositions.isPresent() ? batch : 0];
    }

    private Rows rows(int width) {
      Rows rows = Rows.allocateApart(arena, batch, width);
      allocated.add(rows);
      return rows;
    }

    @Override
    public Rows forward(
        KeyValueCache cache,
        int position,
        int[] ids,
        int from,
        int tokens,
        LayerObserver observer) {
      int end = Math.max(cache.length(), position + tokens);
      embed(ids, from, tokens, position);
      observer.output(0, hidden, tokens);
      turn(cache.capacity(), position, tokens);
      for (int i = 0; i < blocks.size(); i++) {
        Block block = blocks.get(i);
        attend(block, cache, i, position, end, tokens);
        Rows input = normed(block.feedForwardNorm(), tokens);
        feedForwards.get(i).run(input, delta, tokens);
        add(block.feedForwardPostNorm(), tokens);
        observer.output(i + 1, hidden, tokens);
      }
      cache.advance(end - cache.length());
      return hidden;
    }

    private void embed(int[] ids, int from, int tokens, int position) {
      kernels.embed(embedding, ids, from, tokens, hidden);
      if (embeddingFactor != 1) {
        kernels.scale(hidden, embeddingFactor, tokens);
      }
      if (learnedPositions.isPresent()) {
        for (int i = 0; i < tokens; i++) {
          positions[i] = position + i;
        }
        kernels.embed(learnedPositions.get(), positions, 0, tokens, delta);
        kernels.add(hidden, delta, tokens);
      }
    }

    /** Computes the angles of all rotations. */
    private void turn(int cacheCapacity, int position, int tokens) {
      if (capacity != cacheCapacity) {
        capacity = cacheCapacity;
        ropes.clear();
        for (Block block : blocks) {
          if (block.attention().positions().isPresent()) {
            Rope rope = block.attention().positions().get().rope(capacity);
            angles.computeIfAbsent(rope, r -> r.allocateAngles(arena, batch));
            if (!ropes.contains(rope)) {
              ropes.add(rope);
            }
          }
        }
      }
      for (int i = 0; i < ropes.size(); i++) {
        ropes.get(i).angles(position, tokens, angles.get(ropes.get(i)));
      }
    }

    private void attend(
        Block block, KeyValueCache cache, int layer, int position, int end, int tokens) {
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
        Rope rope = attention.positions().get().rope(capacity);
        kernels.rope(rope, angles.get(rope), queries, config.headDimension(), tokens);
        kernels.rope(rope, angles.get(rope), keys, config.headDimension(), tokens);
      }
      kernels.replace(cache.layer(layer), keys, values, position, tokens, end);
      // Keys carry their turn, so a query that sees all of them may stand anywhere: as the last of
      // what is cached it sees what stands behind it, too.
      kernels.attention(
          queries, cache.layer(layer), end - tokens, attention.rule(), attended, tokens);
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
      for (Rows rows : angles.values()) {
        bytes += rows.data().byteSize();
      }
      return bytes;
    }
  }
}
