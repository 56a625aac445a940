package io.steelyard.kernels;

/**
 * Rows at equal distances in memory, one head's queries, keys, values or results. What it points to
 * is not checked: whoever makes one has.
 *
 * @param address of the first row's first value
 * @param stride bytes from a row's beginning to the next's
 * @param type {@link DataType#F32}, {@link DataType#F16} or {@link DataType#BF16}
 */
public record StridedRows(long address, long stride, DataType type) {
  /** Where a row begins. */
  public long row(long index) {
    return address + index * stride;
  }

  /** The same rows from one of them on. */
  public StridedRows from(long index) {
    return new StridedRows(row(index), stride, type);
  }

  /** One value of a row. */
  public float get(long index, int value) {
    return HalfRows.get(type, row(index), value);
  }

  /** Writes a row. */
  public void put(long index, float[] values) {
    for (int i = 0; i < values.length; i++) {
      HalfRows.put(type, row(index), i, values[i]);
    }
  }

  /** Writes a row, rounded from float32 values at an address. */
  public void round(long from, long index, int count) {
    HalfRows.round(from, type, row(index), count);
  }
}
