package io.steelyard.kernels.attention;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.StridedRows;
import java.lang.foreign.MemorySegment;

/**
 * The shape of a problem of attention.
 *
 * @param batch sequences
 * @param length positions of each
 * @param heads query heads
 * @param kvHeads heads of keys and values; query head h uses {@code h / (heads / kvHeads)}
 * @param dimension values of a head
 * @param causal whether a query sees no position after its own
 */
public record AttentionShape(
    int batch, int length, int heads, int kvHeads, int dimension, boolean causal) {
  /** The widest head: wider ones are no attention's. */
  private static final int WIDEST = 4096;

  private static final int MOST_HEADS = 1 << 16;

  public AttentionShape {
    if (batch < 1 || length < 1 || heads < 1 || kvHeads < 1) {
      throw new IllegalArgumentException(
          "attention needs at least one sequence, position and head, not %d × %d × %d (%d)"
              .formatted(batch, length, heads, kvHeads));
    }
    if (dimension < 1 || dimension > WIDEST) {
      throw new IllegalArgumentException("a head has 1 to " + WIDEST + " values, not " + dimension);
    }
    if (heads > MOST_HEADS) {
      throw new IllegalArgumentException(
          "attention has at most " + MOST_HEADS + " heads, not " + heads);
    }
    if (heads % kvHeads != 0) {
      throw new IllegalArgumentException(
          "%d query heads can't share %d heads of keys and values evenly"
              .formatted(heads, kvHeads));
    }
    try {
      Math.multiplyExact(
          Math.multiplyExact((long) batch * length, (long) heads * dimension), Double.BYTES);
      Math.multiplyExact((long) length * length, (long) batch * heads);
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException("no machine holds so many values", e);
    }
  }

  /** Query heads that share a head of keys and values. */
  public int group() {
    return heads / kvHeads;
  }

  /** What products of queries and keys are multiplied with: {@code 1/√dimension}. */
  public float scale() {
    return (float) (1 / Math.sqrt(dimension));
  }

  /** Values of the queries, and of the results. */
  public long queryValues() {
    return (long) batch * length * heads * dimension;
  }

  /** Values of the keys. */
  public long keyValues() {
    return (long) batch * length * kvHeads * dimension;
  }

  /** One head's rows of [batch][length][heads][dimension]. */
  StridedRows rows(MemorySegment memory, DataType type, int batch, int head, int heads) {
    long rowBytes = type.bytes(dimension);
    long first = ((long) batch * length * heads + head) * rowBytes;
    return new StridedRows(memory.address() + first, heads * rowBytes, type);
  }

  /** Scores of dense attention, of all heads and sequences: only those that causality leaves. */
  public long scores() {
    long ofHead = causal ? (long) length * (length + 1L) / 2 : (long) length * length;
    return Math.multiplyExact(ofHead, (long) batch * heads);
  }
}
