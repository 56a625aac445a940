package io.steelyard.models;

import io.steelyard.models.sampling.Sampler;
import io.steelyard.models.sampling.Sampling;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.IntPredicate;

/** One sequence of a {@link Batch}: a prompt, and what is generated after it. */
public final class BatchedSequence {
  private final int[] prompt;
  private final int most;
  private final Sampler sampler;
  private final IntPredicate listener;
  private final Runnable atEnd;
  private int[] generated = new int[16];
  private int count;
  private boolean done;

  /**
   * Begins with nothing generated.
   *
   * @param most tokens to generate, at least 1
   * @param listener told of each token; says whether another one is wanted
   * @param atEnd run once, when no more tokens come
   */
  BatchedSequence(
      int[] prompt, int most, Sampling sampling, IntPredicate listener, Runnable atEnd) {
    this.prompt = prompt;
    this.most = most;
    this.listener = listener;
    this.atEnd = atEnd;
    sampler = new Sampler(sampling);
    sampler.begin(prompt);
  }

  /** Whether no more tokens come. */
  public boolean done() {
    return done;
  }

  /** Ends it; its place is free from the next pass on. */
  public void cancel() {
    if (!done) {
      done = true;
      atEnd.run();
    }
  }

  /** The tokens generated so far, with the one that ended it. */
  public int[] generated() {
    return Arrays.copyOf(generated, count);
  }

  int[] prompt() {
    return prompt;
  }

  /** Chooses the next token from logits. */
  int choose(MemorySegment logits) {
    int id = sampler.next(logits);
    if (count == generated.length) {
      generated = Arrays.copyOf(generated, 2 * count);
    }
    generated[count++] = id;
    if (!listener.test(id) || count == most) {
      cancel();
    }
    return id;
  }
}
