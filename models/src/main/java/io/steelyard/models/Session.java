package io.steelyard.models;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.KeyValues;
import io.steelyard.kernels.Rows;
import io.steelyard.models.architecture.Architecture;
import io.steelyard.models.architecture.Architecture.LayerObserver;
import io.steelyard.models.architecture.Config;
import io.steelyard.models.architecture.Span;
import io.steelyard.models.cache.KeyValueCache;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.function.IntPredicate;

/**
 * One sequence of tokens with its KV cache. A forward pass continues after what the cache holds.
 *
 * <p>A model whose longer sequences are turned another way (LongRoPE) has all positions turned for
 * the length that the sequence reaches: where it passes the model's first context, what is cached
 * is computed anew. So does Hugging Face's transformers; llama.cpp decides by the cache's size.
 */
public final class Session implements AutoCloseable {
  /** The most tokens in one pass, usually; longer prompts are processed in several. */
  public static final int BATCH = 512;

  /** Positions whose logits are computed at a time, so that their memory stays small. */
  private static final int LOGIT_ROWS = 32;

  private final Arena arena = Arena.ofShared();
  private final Config config;
  private final KeyValueCache cache;
  private final List<Span> spans;
  private final Architecture.Pass pass;
  private final boolean causal;
  private final int batch;
  private final int few;
  private final Rows logits;
  private final MemorySegment lastLogits;
  private final int[] single = new int[1];

  /** Up to so many positions are turned one way, and longer sequences another. */
  private final int firstContext;

  /** The cached tokens, where they may have to be computed anew. */
  private final int[] cached;

  /** Whether the cached tokens are those of a sequence longer than the first context. */
  private boolean extended;

  /** Receives rows of some positions. */
  @FunctionalInterface
  public interface PositionSink {
    /**
     * Takes one row.
     *
     * @param position of the token
     * @param row float32 values, only valid during the call
     */
    void row(int position, MemorySegment row);
  }

  /** Receives rows of values, one a position. */
  @FunctionalInterface
  public interface RowSink<E extends Exception> {
    /**
     * Takes one row.
     *
     * @param row float32 values, only valid during the call
     */
    void row(MemorySegment row) throws E;
  }

  Session(Architecture architecture, Kernels kernels, int capacity, DataType kvType, int most) {
    config = architecture.config();
    // Where tokens see later ones, all must be in one pass.
    causal = architecture.causal();
    firstContext = architecture.firstContext();
    cached = new int[firstContext < capacity ? capacity : 0];
    batch = causal ? Math.min(most, capacity) : capacity;
    try {
      cache =
          new KeyValueCache(
              kernels,
              arena,
              config.layers(),
              new KeyValues.Shape(kvType, config.kvHeads(), config.headDimension(), capacity));
      spans = List.of(new Span(cache));
      pass = architecture.newPass(arena, batch);
      logits = Rows.allocate(arena, Math.min(batch, LOGIT_ROWS), config.vocabulary());
      lastLogits = logits.row(0);
      few = (int) Math.min(kernels.fewTokens(), logits.count());
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  /** Number of tokens that the model knows. */
  public int vocabulary() {
    return config.vocabulary();
  }

  /** Whether no token sees a later one. */
  public boolean causal() {
    return causal;
  }

  /** Positions in the cache. */
  public int length() {
    return cache.length();
  }

  /** Positions that the cache has room for. */
  public int capacity() {
    return cache.capacity();
  }

  /** The most tokens in one pass. */
  public int batch() {
    return batch;
  }

  /** The most tokens of a pass whose logits are, bit for bit, those of as many {@link #step}s. */
  public int fewTokens() {
    return few;
  }

  /**
   * How many tokens can follow before the cache is full, or what it holds has to be computed anew.
   */
  public int room() {
    return (length() < firstContext ? Math.min(firstContext, capacity()) : capacity()) - length();
  }

  /** Type of the cached keys and values. */
  public DataType kvType() {
    return cache.shape().type();
  }

  /** Bytes of the KV cache. */
  public long cacheBytes() {
    return cache.bytes();
  }

  /** Bytes of activations and logits. */
  public long activationBytes() {
    return pass.bytes() + logits.data().byteSize();
  }

  /** Forgets the positions from {@code length} on. */
  public void truncate(int length) {
    cache.truncate(length);
  }

  /**
   * Processes tokens.
   *
   * @param ids the tokens from index {@code from} up to {@code to}, at least one
   * @return the logits of the last one: float32, valid until the next call
   * @throws ModelException if an id is not in the vocabulary or the cache has no room
   */
  public MemorySegment forward(int[] ids, int from, int to) {
    pass.logits(process(ids, from, to), 1, logits);
    return lastLogits;
  }

  /** Processes tokens, at least one; returns the last layer's output of the last. */
  private Rows process(int[] ids, int from, int to) {
    begin(ids, from, to, length());
    Rows hidden = null;
    int tokens = 0;
    for (int at = from; at < to; at += tokens) {
      tokens = Math.min(batch, to - at);
      hidden = pass(length(), ids, at, tokens, LayerObserver.NONE);
    }
    return Objects.requireNonNull(hidden).from(tokens - 1);
  }

  /** Processes tokens whose logits nobody needs; none is fine too. */
  public void advance(int[] ids, int from, int to) {
    if (from == to) {
      return;
    }
    begin(ids, from, to, length());
    fill(ids, from, to);
  }

  private void fill(int[] ids, int from, int to) {
    for (int at = from; at < to; at += batch) {
      pass(length(), ids, at, Math.min(batch, to - at), LayerObserver.NONE);
    }
  }

  private Rows pass(int position, int[] ids, int from, int tokens, LayerObserver observer) {
    if (cached.length > 0) {
      System.arraycopy(ids, from, cached, position, tokens);
    }
    spans.getFirst().set(position, tokens, extended);
    return pass.forward(spans, ids, from, observer);
  }

  /**
   * Processes tokens; otherwise as {@link #forward(int[], int, int)}.
   *
   * @return what the logits of the last one are made of, the model's embedding of the text up to
   *     it: float32, {@code config().hidden()} values, valid until the next call
   */
  public MemorySegment embed(int[] ids, int from, int to) {
    Rows hidden = process(ids, from, to);
    return pass.finalStates(hidden, 1).row(0);
  }

  /** Processes one token; otherwise as {@link #forward(int[], int, int)}. */
  public MemorySegment step(int id) {
    single[0] = id;
    return forward(single, 0, 1);
  }

  /**
   * Processes tokens and tells the logits of every one, in order.
   *
   * @throws ModelException as {@link #forward(int[], int, int)}
   */
  public <E extends Exception> void forward(int[] ids, int from, int to, RowSink<E> sink) throws E {
    begin(ids, from, to, length());
    for (int at = from; at < to; at += batch) {
      int tokens = Math.min(batch, to - at);
      Rows hidden = pass(length(), ids, at, tokens, LayerObserver.NONE);
      for (int row = 0; row < tokens; row += LOGIT_ROWS) {
        int rows = Math.min(LOGIT_ROWS, tokens - row);
        pass.logits(hidden.from(row), rows, logits);
        for (int i = 0; i < rows; i++) {
          sink.row(logits.row(i));
        }
      }
    }
  }

  /**
   * Processes a part of a sequence in one pass and tells the logits of some of its tokens, in
   * order. What the cache holds at their positions is computed anew; what it holds before and
   * behind them is kept, and seen by models that see both directions.
   *
   * @param sequence one token a position, from 0 on
   * @param from the first position that is computed, at most {@link #length}; for a causal model
   *     that length
   * @param to the position behind the last one
   * @param wanted by position
   * @throws ModelException if one pass doesn't take so many, an id is not in the vocabulary or the
   *     cache has no room
   */
  public void forward(int[] sequence, int from, int to, IntPredicate wanted, PositionSink sink) {
    if (from > length() || (causal && from < length())) {
      throw new IllegalArgumentException(
          "a pass from position %d on can't follow %d cached ones".formatted(from, length()));
    }
    begin(sequence, from, to, from);
    checkOnePass(to - from);
    Rows hidden = pass(from, sequence, from, to - from, LayerObserver.NONE);
    int at = from;
    while (at < to) {
      if (!wanted.test(at)) {
        at++;
        continue;
      }
      int count = 1;
      while (count < logits.count() && at + count < to && wanted.test(at + count)) {
        count++;
      }
      pass.logits(hidden.from(at - from), count, logits);
      for (int i = 0; i < count; i++) {
        sink.row(at + i, logits.row(i));
      }
      at += count;
    }
  }

  /**
   * Processes tokens in one pass and tells what each layer puts out.
   *
   * @throws ModelException as {@link #forward(int[], int, int)}, and if there are more tokens than
   *     one pass takes
   */
  public void layers(int[] ids, LayerObserver observer) {
    begin(ids, 0, ids.length, length());
    checkOnePass(ids.length);
    pass(length(), ids, 0, ids.length, observer);
  }

  private void checkOnePass(int tokens) {
    if (tokens > batch) {
      throw new ModelException(
          "%d tokens are more than the %d of one pass; give fewer".formatted(tokens, batch));
    }
  }

  /** Checks tokens, and makes what is cached fit the length that the sequence reaches with them. */
  private void begin(int[] ids, int from, int to, int position) {
    check(ids, from, to, position);
    boolean beyond = Math.max(length(), position + to - from) > firstContext;
    if (beyond != extended) {
      extended = beyond;
      int length = length();
      truncate(0);
      fill(cached, 0, length);
    }
  }

  private void check(int[] ids, int from, int to, int position) {
    Objects.checkFromToIndex(from, to, ids.length);
    if (from == to) {
      throw new ModelException("there is no token to process; give at least one");
    }
    if (to - from > capacity() - position) {
      throw new ModelException(
          "%d tokens after %d don't fit the context of %d; load the model with a larger context"
              .formatted(to - from, position, capacity()));
    }
    config.requireTokens(ids, from, to);
  }

  /** Frees the cache and all buffers. */
  @Override
  public void close() {
    arena.close();
  }
}
