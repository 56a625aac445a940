package io.steelyard.models.tokenizer;

import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A hash table from non-negative longs to non-negative ints: open addressing, at most half full.
 *
 * <p>The multiplier is drawn once a table, so that a model file can't be written to collide in it.
 */
final class LongIntTable {
  static final int ABSENT = -1;

  private final long multiplier = ThreadLocalRandom.current().nextLong() | 1;
  private long[] keys;
  private int[] values;
  private int size;
  private int shift;

  LongIntTable(int expected) {
    allocate(Math.max(16, Integer.highestOneBit(Math.max(expected, 1)) << 2));
  }

  /** The value of a key, or {@link #ABSENT}. */
  int get(long key) {
    int mask = keys.length - 1;
    for (int slot = slot(key); ; slot = (slot + 1) & mask) {
      long found = keys[slot];
      if (found == key) {
        return values[slot];
      }
      if (found < 0) {
        return ABSENT;
      }
    }
  }

  /** Stores a value unless the key has one; says whether it was stored. */
  boolean putIfAbsent(long key, int value) {
    if (2 * size >= keys.length) {
      grow();
    }
    int mask = keys.length - 1;
    int slot = slot(key);
    while (keys[slot] >= 0) {
      if (keys[slot] == key) {
        return false;
      }
      slot = (slot + 1) & mask;
    }
    keys[slot] = key;
    values[slot] = value;
    size++;
    return true;
  }

  private int slot(long key) {
    long mixed = (key ^ (key >>> 29)) * multiplier;
    return (int) (((mixed ^ (mixed >>> 32)) * 0x9E3779B97F4A7C15L) >>> shift);
  }

  private void grow() {
    long[] oldKeys = keys;
    int[] oldValues = values;
    allocate(Math.multiplyExact(keys.length, 2));
    size = 0;
    for (int i = 0; i < oldKeys.length; i++) {
      if (oldKeys[i] >= 0) {
        putIfAbsent(oldKeys[i], oldValues[i]);
      }
    }
  }

  private void allocate(int capacity) {
    keys = new long[capacity];
    Arrays.fill(keys, -1);
    values = new int[capacity];
    shift = Long.SIZE - Integer.numberOfTrailingZeros(capacity);
  }
}
