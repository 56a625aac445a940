package io.steelyard.engines.llamacpp;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A KV cache of llama.cpp with the buffers for computing on it, and threads of its own (the thread
 * pool that llama-bench attaches; without one ggml starts threads anew for every pass).
 *
 * <p>The caller keeps ids inside the vocabulary and sequences inside the cache: llama.cpp ends the
 * process where they aren't.
 */
final class LlamaContext implements AutoCloseable {
  /** llama.cpp makes caches of a multiple of this. */
  private static final int CELLS = 256;

  private final LlamaCppLibrary library;
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment pool;
  private final MemorySegment context;
  private final MemorySegment memory;
  private final MemorySegment batch;
  private final MemorySegment tokens;
  private final MemorySegment outputs;
  private final long rowBytes;
  private final int batchLimit;

  /**
   * Makes the cache.
   *
   * @param tokens the cache must hold, of each sequence
   * @param sequences that live side by side in it
   * @param mostOutputs positions of one call whose logits can be asked for
   */
  LlamaContext(
      LlamaCppLibrary library,
      LlamaModel model,
      LlamaCppOptions options,
      int tokens,
      int sequences,
      int mostOutputs)
      throws EngineException {
    this.library = library;
    this.rowBytes = (long) Float.BYTES * model.vocabulary();
    this.pool = library.newThreadpool(options.threads());
    if (pool.address() == 0) {
      arena.close();
      throw new EngineException(
          Kind.FAILED,
          "llama.cpp could not start " + options.threads() + " threads; use fewer threads");
    }
    this.context = create(model, options, tokens, sequences, mostOutputs);
    if (context.address() == 0) {
      library.freeThreadpool(pool);
      arena.close();
      throw new EngineException(
          Kind.FAILED,
          "llama.cpp could not make a context of %d tokens for this model: %s"
              .formatted(tokens, library.log().cause().orElse("it gave no reason")));
    }
    library.attachThreadpool(context, pool);
    this.memory = library.memory(context);
    this.batchLimit = library.number("llama_n_batch", context);
    this.tokens = arena.allocate(JAVA_INT, batchLimit);
    this.outputs = arena.allocate(batchLimit, 1);
    this.batch = arena.allocate(LlamaCppStructs.BATCH);
    LlamaCppStructs.set(batch, LlamaCppStructs.BATCH, "token", this.tokens);
    LlamaCppStructs.set(batch, LlamaCppStructs.BATCH, "logits", outputs);
  }

  private MemorySegment create(
      LlamaModel model, LlamaCppOptions options, int tokens, int sequences, int mostOutputs) {
    // Each sequence's share is rounded up by llama.cpp; asking for it so saves a warning.
    int tokensEach = sequences == 1 ? tokens : Math.ceilDiv(tokens, CELLS) * CELLS;
    try (Arena scratch = Arena.ofConfined()) {
      MemorySegment params = library.contextDefaultParams(scratch);
      var layout = LlamaCppStructs.CONTEXT_PARAMS;
      LlamaCppStructs.set(params, layout, "n_ctx", Math.multiplyExact(tokensEach, sequences));
      LlamaCppStructs.set(params, layout, "n_batch", options.batch());
      LlamaCppStructs.set(params, layout, "n_ubatch", options.ubatch());
      LlamaCppStructs.set(params, layout, "n_seq_max", sequences);
      LlamaCppStructs.set(params, layout, "n_outputs_max", Math.min(mostOutputs, options.batch()));
      LlamaCppStructs.set(params, layout, "n_threads", options.threads());
      LlamaCppStructs.set(params, layout, "n_threads_batch", options.threads());
      LlamaCppStructs.set(params, layout, "flash_attn_type", options.flash().id);
      LlamaCppStructs.set(params, layout, "type_k", options.kv().id);
      LlamaCppStructs.set(params, layout, "type_v", options.kv().id);
      return library.newContext(model.pointer(), params);
    }
  }

  /** Tokens that the cache holds of each sequence; llama.cpp rounds up to a multiple of 256. */
  int capacity() {
    return library.number("llama_n_ctx_seq", context);
  }

  /** The most tokens in one call; no more than the cache was asked to hold. */
  int batchLimit() {
    return batchLimit;
  }

  int threads() {
    return library.number("llama_n_threads", context);
  }

  /** Whether the context keeps anything between calls, which every decoder's does. */
  boolean hasMemory() {
    return memory.address() != 0;
  }

  /** Forgets every token. */
  void clear() {
    library.clearMemory(memory);
  }

  /**
   * Forgets the tokens of the one sequence from a position on.
   *
   * @return false if this kind of model can't forget a part; nothing was forgotten then
   */
  boolean rewind(int position) {
    return library.removePositions(memory, 0, position, -1);
  }

  /** Appends tokens to the one sequence and computes nothing but their share of the cache. */
  void append(int[] ids, int from, int to) throws EngineException {
    for (int start = from; start < to; start += batchLimit) {
      int end = Math.min(to, start + batchLimit);
      put(ids, start, end);
      outputs.asSlice(0, end - start).fill((byte) 0);
      run(end - start);
    }
    library.synchronize(context);
  }

  /**
   * Appends tokens to the one sequence.
   *
   * @return logits after the last one, valid until the next call
   */
  MemorySegment appendForLast(int[] ids, int from, int to) throws EngineException {
    int lastStart = from + (to - from - 1) / batchLimit * batchLimit;
    for (int start = from; start < to; start += batchLimit) {
      int count = Math.min(to - start, batchLimit);
      put(ids, start, start + count);
      outputs.asSlice(0, count).fill((byte) 0);
      if (start == lastStart) {
        outputs.set(JAVA_BYTE, count - 1, (byte) 1);
      }
      run(count);
    }
    library.synchronize(context);
    return logits(to - lastStart - 1);
  }

  /** Appends one token to the one sequence; logits as {@link #appendForLast}. */
  MemorySegment append(int id) throws EngineException {
    tokens.set(JAVA_INT, 0, id);
    outputs.set(JAVA_BYTE, 0, (byte) 1);
    run(1);
    library.synchronize(context);
    return logits(0);
  }

  /**
   * Appends tokens to the one sequence, no more than one call may hold, and computes the logits of
   * them all: {@link #logits} of 0 to {@code to - from - 1}.
   */
  void appendForAll(int[] ids, int from, int to) throws EngineException {
    put(ids, from, to);
    outputs.asSlice(0, to - from).fill((byte) 1);
    run(to - from);
    library.synchronize(context);
  }

  /**
   * A forward pass of several sequences of equal length from an empty cache, with the logits of
   * every position.
   *
   * @param rows told of each position's logits, sequence by sequence
   * @return nanoseconds of the passes alone
   */
  long forward(int[][] ids, LogitRows rows) throws EngineException {
    int length = ids[0].length;
    int total = Math.multiplyExact(ids.length, length);
    clear();
    long nanos = 0;
    try (Arena scratch = Arena.ofConfined()) {
      MemorySegment counts = scratch.allocate(JAVA_INT, batchLimit);
      MemorySegment sequences = scratch.allocate(JAVA_INT, batchLimit);
      MemorySegment pointers = scratch.allocate(ADDRESS, batchLimit);
      for (int i = 0; i < batchLimit; i++) {
        counts.setAtIndex(JAVA_INT, i, 1);
        pointers.setAtIndex(ADDRESS, i, sequences.asSlice(i * JAVA_INT.byteSize()));
      }
      LlamaCppStructs.set(batch, LlamaCppStructs.BATCH, "n_seq_id", counts);
      LlamaCppStructs.set(batch, LlamaCppStructs.BATCH, "seq_id", pointers);
      outputs.fill((byte) 1);
      for (int start = 0; start < total; start += batchLimit) {
        int count = Math.min(batchLimit, total - start);
        for (int i = 0; i < count; i++) {
          int sequence = (start + i) / length;
          tokens.setAtIndex(JAVA_INT, i, ids[sequence][(start + i) % length]);
          sequences.setAtIndex(JAVA_INT, i, sequence);
        }
        long begin = System.nanoTime();
        run(count);
        library.synchronize(context);
        nanos += System.nanoTime() - begin;
        for (int i = 0; i < count; i++) {
          rows.row(logits(i));
        }
      }
      return nanos;
    } finally {
      LlamaCppStructs.set(batch, LlamaCppStructs.BATCH, "n_seq_id", MemorySegment.NULL);
      LlamaCppStructs.set(batch, LlamaCppStructs.BATCH, "seq_id", MemorySegment.NULL);
    }
  }

  /** Receives logits. */
  interface LogitRows {
    void row(MemorySegment row) throws EngineException;
  }

  /** Logits of the last call's token {@code index}. */
  MemorySegment logits(int index) throws EngineException {
    MemorySegment row = library.logitsAt(context, index);
    if (row.address() == 0) {
      throw failure("gave no logits for token " + index);
    }
    return row.reinterpret(rowBytes).asReadOnly();
  }

  @Override
  public void close() {
    library.freeContext(context);
    library.freeThreadpool(pool);
    arena.close();
  }

  private void put(int[] ids, int from, int to) {
    MemorySegment.copy(ids, from, tokens, JAVA_INT, 0, to - from);
  }

  private void run(int count) throws EngineException {
    LlamaCppStructs.set(batch, LlamaCppStructs.BATCH, "n_tokens", count);
    int code = library.decode(context, batch);
    if (code != 0) {
      throw failure(
          code == 1
              ? "found no room in the KV cache for %d tokens".formatted(count)
              : "failed on %d tokens with code %d".formatted(count, code));
    }
  }

  private EngineException failure(String what) {
    return new EngineException(
        Kind.FAILED,
        "llama.cpp " + what + library.log().cause().map(line -> ": " + line).orElse(""));
  }
}
