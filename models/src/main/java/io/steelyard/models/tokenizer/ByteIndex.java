package io.steelyard.models.tokenizer;

import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;

/** Finds the token that has exactly some bytes; hashed with a seed of its own, see LongIntTable. */
final class ByteIndex {
  private final long multiplier = ThreadLocalRandom.current().nextLong() | 1;
  private final byte[][] tokens;
  private final int[] slots;
  private int longest;

  /**
   * @param tokens the bytes of each id; an empty array is no token
   */
  ByteIndex(byte[][] tokens) {
    this.tokens = tokens;
    slots = new int[Math.max(16, Integer.highestOneBit(Math.max(tokens.length, 1)) << 2)];
    Arrays.fill(slots, -1);
    for (int id = 0; id < tokens.length; id++) {
      byte[] token = tokens[id];
      if (token.length == 0) {
        continue;
      }
      longest = Math.max(longest, token.length);
      int slot = slot(token, 0, token.length);
      while (slots[slot] >= 0) {
        slot = (slot + 1) & (slots.length - 1);
      }
      slots[slot] = id;
    }
  }

  /** The id of the token with the bytes {@code [from, to)}, or -1. */
  int find(byte[] bytes, int from, int to) {
    if (to - from > longest || to <= from) {
      return -1;
    }
    for (int slot = slot(bytes, from, to); ; slot = (slot + 1) & (slots.length - 1)) {
      int id = slots[slot];
      if (id < 0 || Arrays.equals(tokens[id], 0, tokens[id].length, bytes, from, to)) {
        return id;
      }
    }
  }

  private int slot(byte[] bytes, int from, int to) {
    long hash = 0x9E37;
    for (int i = from; i < to; i++) {
      hash = (hash ^ bytes[i]) * multiplier;
      hash ^= hash >>> 32;
    }
    return (int) ((hash * 0x9E3779B97F4A7C15L) >>> 33) & (slots.length - 1);
  }
}
