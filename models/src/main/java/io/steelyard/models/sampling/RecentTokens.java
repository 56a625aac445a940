package io.steelyard.models.sampling;

import java.util.Arrays;

/** How often each token stands among the last ones: a ring of their ids, and a count an id. */
final class RecentTokens {
  private final boolean all;
  private final int[] ring;
  private int[] counts = new int[0];
  private int next;
  private boolean full;

  /**
   * None yet.
   *
   * @param last how many tokens to keep, or {@link Penalties#ALL}
   */
  RecentTokens(int last) {
    all = last == Penalties.ALL;
    ring = new int[all ? 0 : last];
  }

  /** Makes room for all ids of a vocabulary, so that counting them allocates nothing. */
  void reserve(int vocabulary) {
    if (counts.length < vocabulary) {
      counts = Arrays.copyOf(counts, vocabulary);
    }
  }

  void clear() {
    Arrays.fill(counts, 0);
    next = 0;
    full = false;
  }

  void add(int id) {
    reserve(id + 1);
    counts[id]++;
    if (all) {
      return;
    }
    if (full) {
      counts[ring[next]]--;
    }
    ring[next] = id;
    next = next + 1 == ring.length ? 0 : next + 1;
    full |= next == 0;
  }

  /**
   * How often a token was seen.
   *
   * @param id within what was {@link #reserve reserved}
   */
  int count(int id) {
    return counts[id];
  }
}
