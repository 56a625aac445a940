package io.steelyard.kernels.attention;

import io.steelyard.kernels.AttentionBand;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.StridedRows;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Results of one head's rows over several sets of keys that become one: each is weighted with its
 * share of the sum of {@code exp(score)}. Both the parts and the whole are float32.
 *
 * <p>Source: Milakov and Gimelshein, "Online normalizer calculation for softmax" (2018).
 */
final class Merge implements AutoCloseable {
  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  private static final int ROWS_AT_ONCE = 4096;

  private final Workbench workbench;
  private final int dimension;
  private final int rows;
  private final MemoryPool.Piece values;
  private final MemoryPool.Piece sums;

  /** Rows that have seen nothing yet. */
  Merge(int dimension, int rows, Workbench workbench) {
    this.workbench = workbench;
    this.dimension = dimension;
    this.rows = rows;
    values = workbench.pool().takeCleared((long) Float.BYTES * dimension * rows);
    sums = workbench.pool().take((long) Float.BYTES * rows);
    forget(0, rows);
    moved(1, DataType.F32);
  }

  /** Counts that all values and sums were read or written so many times, as some type. */
  private void moved(int times, DataType type) {
    workbench.moved((long) times * rows * (type.bytes(dimension) + Float.BYTES));
  }

  /** Makes some rows those that have seen nothing. */
  void forget(int from, int to) {
    for (int row = from; row < to; row++) {
      put(sums.address(), row, AttentionBand.NO_KEYS);
    }
  }

  /** The rows, for a strip to write. */
  StridedRows rows() {
    return new StridedRows(values.address(), (long) Float.BYTES * dimension, DataType.F32);
  }

  /** The address of the rows' sums. */
  long sums() {
    return sums.address();
  }

  /** Adds what all rows got elsewhere. */
  void add(Merge part) {
    workbench.parallel(
        Math.ceilDiv(rows, ROWS_AT_ONCE),
        (index, _) -> {
          int from = index * ROWS_AT_ONCE;
          add(part, from, Math.min(from + ROWS_AT_ONCE, rows));
        });
    moved(3, DataType.F32);
  }

  private void add(Merge part, int from, int to) {
    for (int row = from; row < to; row++) {
      float own = get(sums.address(), row);
      float other = get(part.sums.address(), row);
      if (other == AttentionBand.NO_KEYS) {
        continue;
      }
      double largest = Math.max(own, other);
      double ownWeight = own == AttentionBand.NO_KEYS ? 0 : Math.exp(own - largest);
      double otherWeight = Math.exp(other - largest);
      double total = ownWeight + otherWeight;
      float a = (float) (ownWeight / total);
      float b = (float) (otherWeight / total);
      long at = (long) row * dimension;
      for (int d = 0; d < dimension; d++) {
        float merged = a * get(values.address(), at + d) + b * get(part.values.address(), at + d);
        put(values.address(), at + d, merged);
      }
      put(sums.address(), row, (float) (largest + Math.log(total)));
    }
  }

  /** Takes a multiple of what rows got elsewhere away; the sums stay as they are. */
  void subtract(Merge other, double factor) {
    for (long at = 0; at < (long) rows * dimension; at++) {
      double value = get(values.address(), at) - factor * get(other.values.address(), at);
      put(values.address(), at, (float) value);
    }
    moved(3, DataType.F32);
  }

  /** Writes a head's results. */
  void write(AttentionOutputs outputs, int batch, int head) {
    for (int row = 0; row < rows; row++) {
      write(outputs, batch, head, row, row);
    }
    movedTo(outputs);
  }

  /** Writes the results of some of a head's positions. */
  void scatter(AttentionOutputs outputs, int batch, int head, int[] positions) {
    for (int row = 0; row < rows; row++) {
      write(outputs, batch, head, row, positions[row]);
    }
    movedTo(outputs);
  }

  private void movedTo(AttentionOutputs outputs) {
    moved(1, DataType.F32);
    moved(1, outputs.type());
  }

  private void write(AttentionOutputs outputs, int batch, int head, int row, int position) {
    float sum = get(sums.address(), row);
    if (sum == AttentionBand.NO_KEYS) {
      outputs.clear(batch, head, position);
      return;
    }
    long from = values.address() + (long) Float.BYTES * row * dimension;
    outputs.rows(batch, head).round(from, position, dimension);
    put(outputs.logSums(batch, head), position, sum);
  }

  private static float get(long address, long index) {
    return ALL.get(ValueLayout.JAVA_FLOAT, address + Float.BYTES * index);
  }

  private static void put(long address, long index, float value) {
    ALL.set(ValueLayout.JAVA_FLOAT, address + Float.BYTES * index, value);
  }

  @Override
  public void close() {
    values.close();
    sums.close();
  }
}
