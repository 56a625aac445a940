package io.steelyard.models.architecture;

import io.steelyard.kernels.CachedSpan;
import io.steelyard.kernels.KeyValues;
import io.steelyard.models.cache.KeyValueCache;

/**
 * Consecutive tokens of one sequence in a pass, whose keys and values take the place of those that
 * its cache holds at their positions. One object serves all passes of a sequence, so that none
 * allocates.
 */
public final class Span implements CachedSpan {
  private final KeyValueCache cache;
  private int position;
  private int tokens;
  private boolean extended;
  private int layer;

  /** Tokens of the sequence that has this cache; which ones, {@link #set} says. */
  public Span(KeyValueCache cache) {
    this.cache = cache;
  }

  /**
   * Says which tokens.
   *
   * @param position of the first one, at most the cache's length; that length where the
   *     architecture is causal
   * @param tokens how many, at least 1
   * @param extended whether their positions are turned as those of a sequence longer than {@link
   *     Architecture#firstContext}, as what the cache holds must have been
   */
  public Span set(int position, int tokens, boolean extended) {
    this.position = position;
    this.tokens = tokens;
    this.extended = extended;
    return this;
  }

  KeyValueCache cache() {
    return cache;
  }

  @Override
  public int position() {
    return position;
  }

  /** Says which layer's keys and values are meant. */
  void at(int layer) {
    this.layer = layer;
  }

  @Override
  public KeyValues keyValues() {
    return cache.layer(layer);
  }

  /**
   * Keys carry their turn, so a query that sees all of them may stand anywhere: as the last of what
   * is cached it sees what stands behind it, too.
   */
  @Override
  public int queriesFrom() {
    return end() - tokens;
  }

  @Override
  public int tokens() {
    return tokens;
  }

  boolean extended() {
    return extended;
  }

  @Override
  public int end() {
    return Math.max(cache.length(), position + tokens);
  }
}
