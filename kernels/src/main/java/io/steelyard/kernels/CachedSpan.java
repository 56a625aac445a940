package io.steelyard.kernels;

/** Consecutive tokens of one sequence, as its cache and attention see them. */
public interface CachedSpan {
  /** What the sequence has cached of a layer, these tokens too. */
  KeyValues keyValues();

  /** The position of the first token. */
  int position();

  /** The position behind the last one that is cached, which may come after these tokens. */
  int end();

  /** The position of the first token's query. */
  int queriesFrom();

  /** How many tokens, at least 1. */
  int tokens();
}
