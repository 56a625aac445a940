package io.steelyard.models;

import io.steelyard.models.architecture.Span;
import io.steelyard.models.cache.KeyValueCache;

/**
 * Room for one sequence of a {@link Batch}: its tokens, and the cache of those processed. What an
 * earlier sequence left there stays until another one needs the place, for it to begin with.
 */
final class BatchPlace {
  private final KeyValueCache cache;
  private final Span span;
  private final int firstContext;
  private final int[] ids;
  private int length;

  /** Whether the cached tokens are those of a sequence longer than the first context. */
  private boolean extended;

  BatchPlace(KeyValueCache cache, int firstContext) {
    this.cache = cache;
    span = new Span(cache);
    this.firstContext = firstContext;
    ids = new int[cache.capacity()];
  }

  /**
   * Makes room for a sequence.
   *
   * @param donor what the sequence begins with comes of it; it may be this place
   * @param shared how many tokens
   */
  void begin(int[] prompt, BatchPlace donor, int shared) {
    if (donor == this || shared == 0) {
      cache.truncate(shared);
    } else {
      cache.copy(donor.cache, shared);
    }
    extended = prompt.length > firstContext;
    System.arraycopy(prompt, 0, ids, 0, prompt.length);
    length = prompt.length;
  }

  /** With how many of its tokens, cached or not, a prompt begins. */
  int common(int[] prompt) {
    if (extended != prompt.length > firstContext) {
      return 0;
    }
    // The last token is processed in any case: its logits are needed.
    int most = Math.min(length, prompt.length - 1);
    int common = 0;
    while (common < most && ids[common] == prompt[common]) {
      common++;
    }
    return common;
  }

  /** Tokens that are processed. */
  int cached() {
    return cache.length();
  }

  /** Tokens that are still to be processed. */
  int pending() {
    return length - cache.length();
  }

  /** Adds a token, and begins anew where the sequence then is turned another way. */
  void add(int id) {
    ids[length++] = id;
    if (length > firstContext != extended) {
      extended = true;
      cache.truncate(0);
    }
  }

  /** The next tokens to process, which are also written to an array from an index on. */
  Span next(int tokens, int[] to, int at) {
    System.arraycopy(ids, cache.length(), to, at, tokens);
    return span.set(cache.length(), tokens, extended);
  }

  long bytes() {
    return cache.bytes();
  }
}
