package io.steelyard.models.tokenizer;

import java.util.Arrays;

/** A binary heap of longs, smallest first. */
final class LongHeap {
  private long[] heap = new long[64];
  private int size;

  boolean isEmpty() {
    return size == 0;
  }

  void push(long value) {
    if (size == heap.length) {
      heap = Arrays.copyOf(heap, Math.multiplyExact(size, 2));
    }
    int at = size++;
    while (at > 0) {
      int parent = (at - 1) >>> 1;
      if (heap[parent] <= value) {
        break;
      }
      heap[at] = heap[parent];
      at = parent;
    }
    heap[at] = value;
  }

  long pop() {
    long top = heap[0];
    long last = heap[--size];
    int at = 0;
    for (int child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && heap[child + 1] < heap[child]) {
        child++;
      }
      if (heap[child] >= last) {
        break;
      }
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = last;
    return top;
  }
}
