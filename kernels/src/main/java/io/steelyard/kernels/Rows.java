package io.steelyard.kernels;

import io.steelyard.kernels.machine.SystemMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A view of float32 rows in off-heap memory, one row a token: row i begins at value {@code i ×
 * stride}. Several views may share memory, such as the queries, keys and values that one
 * multiplication wrote side by side.
 *
 * @param data off-heap float32 values, aligned to 4 bytes
 * @param width values in a row
 * @param stride values from the start of a row to the start of the next, at least {@code width}
 */
public record Rows(MemorySegment data, int width, int stride) {
  /** Alignment of what {@link #allocate} returns: a cache line, and the widest vector. */
  public static final int ALIGNMENT = 64;

  public Rows {
    if (!data.isNative()) {
      throw new IllegalArgumentException("rows must lie off the heap");
    }
    if (width < 1 || stride < width) {
      throw new IllegalArgumentException(
          "rows of " + width + " values can't have stride " + stride);
    }
  }

  /** New rows, all zero, without gaps between them. */
  public static Rows allocate(Arena arena, int rows, int width) {
    return new Rows(zeros(arena, rows, width), width, width);
  }

  /**
   * New rows, all zero, whose beginnings are no power of two apart: equal columns of many rows
   * would otherwise compete for the same few places of the processor's caches.
   */
  public static Rows allocateApart(Arena arena, int rows, int width) {
    int line = ALIGNMENT / Float.BYTES;
    int lines = (width + line - 1) / line;
    int stride = (lines % 8 == 0 ? lines + 1 : lines) * line;
    return new Rows(zeros(arena, rows, stride), width, stride);
  }

  private static MemorySegment zeros(Arena arena, int rows, int stride) {
    long bytes = Math.multiplyExact((long) rows * stride, Float.BYTES);
    return SystemMemory.zeros(arena, bytes, ALIGNMENT);
  }

  /** A view of a range of columns of the same rows. */
  public Rows columns(int from, int width) {
    return new Rows(data.asSlice((long) from * Float.BYTES), width, stride);
  }

  /** A view that begins at a later row. */
  public Rows from(int row) {
    return row == 0
        ? this
        : new Rows(data.asSlice((long) row * stride * Float.BYTES), width, stride);
  }

  /** How many whole rows the memory holds. */
  public long count() {
    long values = data.byteSize() / Float.BYTES;
    return values < width ? 0 : (values - width) / stride + 1;
  }

  /** One row's values. */
  public MemorySegment row(int row) {
    return data.asSlice((long) row * stride * Float.BYTES, (long) width * Float.BYTES);
  }

  /** One value. */
  public float get(int row, int column) {
    return data.getAtIndex(ValueLayout.JAVA_FLOAT, (long) row * stride + column);
  }

  /** Sets one value. */
  public void set(int row, int column, float value) {
    data.setAtIndex(ValueLayout.JAVA_FLOAT, (long) row * stride + column, value);
  }

  /** Sets a row to zero. */
  public void clear(int row) {
    for (int i = 0; i < width; i++) {
      set(row, i, 0);
    }
  }

  /** Copies a row of rows as wide. */
  public void copy(int row, Rows from, int fromRow) {
    MemorySegment.copy(
        from.data,
        ValueLayout.JAVA_FLOAT,
        (long) fromRow * from.stride * Float.BYTES,
        data,
        ValueLayout.JAVA_FLOAT,
        (long) row * stride * Float.BYTES,
        width);
  }

  /** Adds a row of rows as wide, times a factor. */
  public void addScaled(int row, Rows from, int fromRow, float factor) {
    for (int i = 0; i < width; i++) {
      set(row, i, Math.fma(factor, from.get(fromRow, i), get(row, i)));
    }
  }

  /** The machine address of a row's first value. */
  long address(int row) {
    return data.address() + (long) row * stride * Float.BYTES;
  }

  /** Checks that the view has this width and at least this many rows. */
  void require(String what, int width, int rows) {
    if (this.width != width) {
      throw new IllegalArgumentException(
          what + " has rows of " + this.width + " values where " + width + " are needed");
    }
    if (rows < 0 || rows > count()) {
      throw new IllegalArgumentException(
          what + " has " + count() + " rows where " + rows + " are needed");
    }
  }
}
