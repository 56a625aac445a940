package io.steelyard.app;

import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * How much faster generation with a KV cache is to be expected than without one, from what passes
 * take: without a cache each token costs a pass over the whole sequence before it.
 *
 * @param prefill seconds of a pass over a whole sequence, by its length; between lengths the time
 *     is taken as linear
 * @param decode seconds of a pass over one token after so many cached ones, likewise
 */
record CacheSpeedup(NavigableMap<Integer, Double> prefill, NavigableMap<Integer, Double> decode) {
  CacheSpeedup {
    prefill = new TreeMap<>(prefill);
    decode = new TreeMap<>(decode);
  }

  /**
   * The expected speed-up, which is {@code caching / batching}.
   *
   * @param none seconds without a cache
   * @param full seconds with it
   * @param caching what a cache gives if every token, of a prompt too, is processed by a pass of
   *     its own
   * @param batching what that must be divided by because a pass over many tokens is faster than as
   *     many passes, which serves more without a cache
   */
  record Prediction(double none, double full, double caching, double batching) {
    double speedup() {
      return none / full;
    }
  }

  /** Predicts for so many tokens after a prompt. */
  Prediction predict(int prompt, int tokens) {
    double none = 0;
    double singly = 0;
    double before = stepsOf(prompt);
    double cachedSingly = before;
    double full = at(prefill, prompt);
    for (int length = prompt; length < prompt + tokens; length++) {
      none += at(prefill, length);
      singly += before;
      before += at(decode, length);
      if (length > prompt) {
        full += at(decode, length - 1);
        cachedSingly += at(decode, length - 1);
      }
    }
    double caching = singly / cachedSingly;
    return new Prediction(none, full, caching, caching / (none / full));
  }

  /** What it takes to process a prompt token by token. */
  private double stepsOf(int prompt) {
    double seconds = 0;
    for (int length = 0; length < prompt; length++) {
      seconds += at(decode, length);
    }
    return seconds;
  }

  /** A time between two measured ones, and beyond them the nearest. */
  private static double at(NavigableMap<Integer, Double> times, int length) {
    Map.Entry<Integer, Double> below = times.floorEntry(length);
    Map.Entry<Integer, Double> above = times.ceilingEntry(length);
    if (below == null || above == null) {
      return (below == null ? above : below).getValue();
    }
    if (below.getKey().equals(above.getKey())) {
      return below.getValue();
    }
    double share = (double) (length - below.getKey()) / (above.getKey() - below.getKey());
    return below.getValue() + share * (above.getValue() - below.getValue());
  }
}
