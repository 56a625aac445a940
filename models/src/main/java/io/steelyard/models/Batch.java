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
import io.steelyard.models.sampling.Sampling;
import io.steelyard.models.tokenizer.Tokenizer;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import java.util.function.Supplier;

/**
 * Many sequences that are processed together: a pass multiplies each weight with the tokens of all
 * of them, so that it is read once for all; attention is each sequence's own, over its own cache.
 * Sequences join when there is a place and leave when they are done, between any two passes, and
 * prompts are processed in pieces beside tokens that are generated. Source: Yu et al., "Orca"
 * (2022), for iterations; Agrawal et al., "SARATHI" (2023), for the pieces.
 *
 * <p>With deterministic kernels each sequence's tokens are, bit for bit, those that it has alone.
 *
 * <p>For one thread. A sequence may be submitted while another's listener is told of a token.
 */
public final class Batch implements AutoCloseable {
  /** The most tokens of prompts in one pass, so that those who generate don't wait for long. */
  public static final int PROMPT_TOKENS = 256;

  /** A prompt waits for another one's beginning if that saves it at least so many tokens. */
  private static final int WORTH_WAITING = 32;

  private final Arena arena = Arena.ofShared();
  private final Supplier<Tokenizer> tokenizer;
  private final Config config;
  private final Architecture.Pass pass;
  private final Rows logits;
  private final int capacity;
  private final boolean sharing;
  private final int[] ids;

  /** The pass's parts, and whose they are. */
  private final List<Span> spans = new ArrayList<>();

  private final List<Running> active = new ArrayList<>();

  private final Queue<BatchedSequence> waiting = new ArrayDeque<>();
  private final List<Running> running = new ArrayList<>();
  private final List<BatchPlace> places = new ArrayList<>();
  private final List<BatchPlace> free = new ArrayList<>();

  /** A sequence in its place. */
  private record Running(BatchedSequence sequence, BatchPlace place) {}

  /**
   * How a batch is made.
   *
   * @param parallel how many sequences at a time, at least 1
   * @param capacity positions of each one's cache, for its prompt and all but the last token
   * @param kvType {@link DataType#F16}, {@link DataType#F32} or {@link DataType#Q8_0}
   * @param sharing whether a prompt takes over what another sequence has cached of the same
   *     beginning
   */
  public record Settings(int parallel, int capacity, DataType kvType, boolean sharing) {
    public Settings {
      if (parallel < 1 || capacity < 1) {
        throw new IllegalArgumentException(
            "no batch of " + parallel + " sequences of " + capacity + " positions");
      }
    }
  }

  Batch(
      Architecture architecture,
      Kernels kernels,
      Supplier<Tokenizer> tokenizer,
      Settings settings) {
    if (!architecture.causal()) {
      throw new ModelException(
          "the model fills in masks and can't go on with texts token by token; use DiffusionDecoder");
    }
    this.tokenizer = tokenizer;
    config = architecture.config();
    capacity = settings.capacity();
    sharing = settings.sharing();
    ids = new int[settings.parallel() + PROMPT_TOKENS];
    try {
      KeyValues.Shape shape =
          new KeyValues.Shape(
              settings.kvType(), config.kvHeads(), config.headDimension(), capacity);
      for (int i = 0; i < settings.parallel(); i++) {
        KeyValueCache cache = new KeyValueCache(kernels, arena, config.layers(), shape);
        places.add(new BatchPlace(cache, architecture.firstContext()));
      }
      free.addAll(places);
      pass = architecture.newPass(arena, ids.length);
      logits = Rows.allocate(arena, settings.parallel(), config.vocabulary());
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  /**
   * Goes on with a text, as soon as there is a place, until the model ends it.
   *
   * @param tokens the most to generate, at least 1
   * @param listener told of each piece of text as it comes
   * @throws ModelException if the model has no tokenizer, or a place no room for so many
   */
  public BatchedSequence submit(
      String prompt, int tokens, Sampling sampling, Consumer<String> listener) {
    Tokenizer with = tokenizer.get();
    TextOutput text = new TextOutput(with, with.endOfGeneration(), List.of(), listener);
    return submit(with.encode(prompt, true), tokens, sampling, text, text::finish);
  }

  /**
   * Adds a sequence, which begins as soon as there is a place.
   *
   * @param prompt at least one token
   * @param tokens the most to generate, at least 1
   * @param listener told of each token as it is chosen; says whether another one is wanted
   * @throws ModelException if an id is not in the vocabulary or a place has no room for so many
   */
  public BatchedSequence submit(
      int[] prompt, int tokens, Sampling sampling, IntPredicate listener) {
    return submit(prompt, tokens, sampling, listener, () -> {});
  }

  private BatchedSequence submit(
      int[] prompt, int tokens, Sampling sampling, IntPredicate listener, Runnable atEnd) {
    if (prompt.length == 0) {
      throw new ModelException("the prompt is empty: give at least one token");
    }
    if (tokens < 1) {
      throw new IllegalArgumentException("no sequence of " + tokens + " tokens: give at least 1");
    }
    if (prompt.length + tokens - 1L > capacity) {
      throw new ModelException(
          "%d tokens after a prompt of %d don't fit the %d positions of a sequence; make the batch with more"
              .formatted(tokens, prompt.length, capacity));
    }
    config.requireTokens(prompt, 0, prompt.length);
    BatchedSequence sequence =
        new BatchedSequence(prompt.clone(), tokens, sampling, listener, atEnd);
    waiting.add(sequence);
    return sequence;
  }

  /** Passes until every sequence is done. */
  public void run() {
    while (step()) {
      // Each step is a pass.
    }
  }

  /**
   * Makes one pass: the next token of every sequence that generates, and of prompts the next piece.
   *
   * @return whether there was anything to do
   */
  public boolean step() {
    release();
    admit();
    if (running.isEmpty()) {
      return false;
    }
    spans.clear();
    active.clear();
    int tokens = 0;
    int room = PROMPT_TOKENS;
    for (Running each : running) {
      int pending = each.place().pending();
      int count = pending == 1 ? 1 : Math.min(pending, room);
      if (count > 0) {
        room -= pending == 1 ? 0 : count;
        spans.add(each.place().next(count, ids, tokens));
        active.add(each);
        tokens += count;
      }
    }
    choose(pass.forward(spans, ids, 0, LayerObserver.NONE));
    release();
    return true;
  }

  /** Chooses a token for each sequence of the pass whose tokens are all processed. */
  private void choose(Rows hidden) {
    int end = 0;
    int wanted = 0;
    for (int i = 0; i < active.size(); i++) {
      end += spans.get(i).tokens();
      if (active.get(i).place().pending() == 0) {
        // To the front: never over a row that is still needed, for there is none before it.
        active.set(wanted, active.get(i));
        hidden.copy(wanted++, hidden, end - 1);
      }
    }
    if (wanted == 0) {
      return;
    }
    pass.logits(hidden, wanted, logits);
    for (int i = 0; i < wanted; i++) {
      Running of = active.get(i);
      // Another one's listener may have cancelled it.
      if (!of.sequence().done()) {
        int id = of.sequence().choose(logits.row(i));
        if (!of.sequence().done()) {
          of.place().add(id);
        }
      }
    }
  }

  /** Lets go of the sequences that are done. */
  private void release() {
    waiting.removeIf(BatchedSequence::done);
    running.removeIf(
        each -> {
          if (each.sequence().done()) {
            free.add(each.place());
          }
          return each.sequence().done();
        });
  }

  /** Gives free places to those that wait, in order. */
  private void admit() {
    while (!waiting.isEmpty() && !free.isEmpty()) {
      int[] prompt = waiting.element().prompt();
      BatchPlace donor = free.getFirst();
      int common = 0;
      for (BatchPlace place : sharing ? places : List.<BatchPlace>of()) {
        if (place.common(prompt) > common) {
          donor = place;
          common = donor.common(prompt);
        }
      }
      int shared = Math.min(common, donor.cached());
      boolean busy = !free.contains(donor);
      if (busy && common - shared >= WORTH_WAITING) {
        return;
      }
      // The one that has been free the longest holds what is least likely to be shared again.
      BatchPlace place = busy ? free.getFirst() : donor;
      free.remove(place);
      place.begin(prompt, donor, shared);
      running.add(new Running(waiting.remove(), place));
    }
  }

  /** Sequences that are not done: those that wait, and those that have a place. */
  public int unfinished() {
    return waiting.size() + running.size();
  }

  /** Bytes of the caches. */
  public long cacheBytes() {
    return places.stream().mapToLong(BatchPlace::bytes).sum();
  }

  /** Frees the caches and all buffers. */
  @Override
  public void close() {
    arena.close();
  }
}
