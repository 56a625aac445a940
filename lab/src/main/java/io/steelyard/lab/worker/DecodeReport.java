package io.steelyard.lab.worker;

/**
 * What was generated.
 *
 * @param ids the generated tokens
 * @param nanos for each token the time from the start of the first timed pass until it was chosen;
 *     tokens that one pass gave arrive together and have the same time
 * @param margins gap between the two largest logits that each token was chosen from; empty unless
 *     asked for
 */
public record DecodeReport(int[] ids, long[] nanos, float[] margins) {}
