package io.steelyard.models.tokenizer;

import java.util.Arrays;

/** A growing sequence of ints. */
final class IntSequence {
  private int[] values;
  private int size;

  IntSequence(int capacity) {
    values = new int[Math.max(capacity, 8)];
  }

  void add(int value) {
    if (size == values.length) {
      values = Arrays.copyOf(values, Math.addExact(size, Math.max(size >> 1, 8)));
    }
    values[size++] = value;
  }

  int[] toArray() {
    return Arrays.copyOf(values, size);
  }
}
