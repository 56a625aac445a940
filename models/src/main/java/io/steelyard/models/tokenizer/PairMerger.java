package io.steelyard.models.tokenizer;

import java.util.Arrays;

/**
 * Merges neighbouring symbols, best pair first and leftmost among equals, until none is left: the
 * loop that byte-pair encoding and SentencePiece share.
 *
 * <p>Symbols are a linked list in arrays and waiting pairs a heap, so n symbols take O(n log n)
 * however long the word is. A merge doesn't look for the pairs that it made stale: a waiting pair
 * counts only while it is still the candidate that its left symbol holds.
 */
abstract class PairMerger {
  static final int NONE = -1;

  /** Where symbol {@code i} begins; {@code start[count]} is the end. */
  int[] start = new int[32];

  /** The token of symbol {@code i}, {@link #NONE} where it has none. */
  int[] token = new int[32];

  private int[] previous = new int[32];
  private int[] next = new int[32];
  private int[] candidate = new int[32];
  private int count;
  private final LongHeap queue = new LongHeap();

  /** What two neighbours merge into, as a number of the subclass's own, or {@link #NONE}. */
  abstract int candidate(int left, int right);

  /** Which candidate goes first: the smaller. */
  abstract int priority(int candidate);

  /** The token that a candidate makes. */
  abstract int merged(int candidate);

  /** Makes room for {@code symbols} symbols and their end. */
  final void reserve(int symbols) {
    if (start.length <= symbols) {
      int length = Math.addExact(symbols, 1 + symbols / 2);
      start = Arrays.copyOf(start, length);
      token = Arrays.copyOf(token, length);
      previous = new int[length];
      next = new int[length];
      candidate = new int[length];
    }
  }

  /** The symbol after {@code symbol}; the number of symbols at the end. */
  final int next(int symbol) {
    return next[symbol];
  }

  /** Where a symbol ends. */
  final int end(int symbol) {
    return start[next[symbol]];
  }

  /**
   * Merges the first {@code symbols} symbols; those left are read from 0 on by {@link #next(int)}.
   */
  final void merge(int symbols) {
    count = symbols;
    for (int i = 0; i < symbols; i++) {
      previous[i] = i - 1;
      next[i] = i + 1;
    }
    for (int i = 0; i < symbols; i++) {
      propose(i);
    }
    while (!queue.isEmpty()) {
      long entry = queue.pop();
      int left = (int) entry;
      int waiting = candidate[left];
      if (waiting == NONE || priority(waiting) != (int) (entry >> 32)) {
        continue;
      }
      int right = next[left];
      token[left] = merged(waiting);
      next[left] = next[right];
      candidate[right] = NONE;
      if (next[right] < count) {
        previous[next[right]] = left;
      }
      propose(left);
      if (previous[left] >= 0) {
        propose(previous[left]);
      }
    }
  }

  private void propose(int left) {
    int right = next[left];
    int found = right < count ? candidate(left, right) : NONE;
    candidate[left] = found;
    if (found != NONE) {
      queue.push(((long) priority(found) << 32) | left);
    }
  }
}
