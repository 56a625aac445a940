package io.steelyard.kernels.attention;

import io.steelyard.kernels.StridedRows;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A copy of some of a head's rows that lie together, in memory of a pool. */
record Gathered(MemoryPool.Piece piece, StridedRows rows) implements AutoCloseable {
  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

  /** Room for rows like others. */
  static Gathered room(StridedRows like, int dimension, int rows, MemoryPool pool) {
    long rowBytes = like.type().bytes(dimension);
    MemoryPool.Piece piece = pool.take(rows * rowBytes);
    return new Gathered(piece, new StridedRows(piece.address(), rowBytes, like.type()));
  }

  /** Copies the rows of some positions. */
  static Gathered of(StridedRows from, int dimension, int[] positions, Workbench workbench) {
    Gathered copy = room(from, dimension, positions.length, workbench.pool());
    copy.gather(from, dimension, positions, 0, positions.length, workbench);
    return copy;
  }

  /** Copies the rows of a range of the positions to their places. */
  void gather(
      StridedRows from, int dimension, int[] positions, int first, int end, Workbench workbench) {
    long rowBytes = from.type().bytes(dimension);
    for (int i = first; i < end; i++) {
      copy(from.row(positions[i]), rows.row(i), rowBytes);
    }
    workbench.moved(2 * rowBytes * (end - first));
  }

  /** Puts the rows where they belong. */
  void scatter(StridedRows to, int dimension, int[] positions, Workbench workbench) {
    long rowBytes = to.type().bytes(dimension);
    for (int i = 0; i < positions.length; i++) {
      copy(rows.row(i), to.row(positions[i]), rowBytes);
    }
    workbench.moved(2 * rowBytes * positions.length);
  }

  /** Puts float32 sums where they belong. */
  static void scatterSums(long from, long to, int[] positions) {
    for (int i = 0; i < positions.length; i++) {
      float sum = ALL.get(ValueLayout.JAVA_FLOAT, from + (long) Float.BYTES * i);
      ALL.set(ValueLayout.JAVA_FLOAT, to + (long) Float.BYTES * positions[i], sum);
    }
  }

  private static void copy(long from, long to, long bytes) {
    MemorySegment.copy(ALL, from, ALL, to, bytes);
  }

  @Override
  public void close() {
    piece.close();
  }
}
