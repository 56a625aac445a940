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
  private int[] generated = new int[16];
  private int count;
  private boolean done;

  BatchedSequence(int[] prompt, int most, Sampling sampling, IntPredicate listener) {
    this.prompt = prompt;
    this.most = most;
    this.listener = listener;
    sampler = new Sampler(sampling);
    sampler.begin(prompt);
    done = most == 0;
  }

  /** Whether no more tokens come. */
  public boolean done() {
    return done;
  }

  /** Ends it; its place is free from the next pass on. */
  public void cancel() {
    done = true;
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
    // Not assigned: the listener may have cancelled.
    if (!listener.test(id) || count == most) {
      done = true;
    }
    return id;
  }
}
