package io.steelyard.lab.worker;

import java.util.Optional;

/**
 * What was generated.
 *
 * @param ids the generated tokens
 * @param nanos for each token the time from the start of the first timed pass until it was chosen;
 *     tokens that one pass gave arrive together and have the same time; of tokens that are chosen
 *     in another order than they stand, the times in rising order
 * @param margins gap between the two largest logits that each token was chosen from; empty unless
 *     asked for
 * @param passes forward passes that gave them, where the engine tells
 */
public record DecodeReport(int[] ids, long[] nanos, float[] margins, Optional<Integer> passes) {
  /** Of an engine that doesn't tell its passes. */
  public DecodeReport(int[] ids, long[] nanos, float[] margins) {
    this(ids, nanos, margins, Optional.empty());
  }
}
