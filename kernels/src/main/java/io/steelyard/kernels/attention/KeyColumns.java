package io.steelyard.kernels.attention;

import io.steelyard.kernels.StridedRows;
import java.util.Arrays;

/**
 * Keys held value by value, so that a query's products with many of them are computed side by side.
 * Keys lie in tiles, which are read from one end to the other.
 *
 * @param columns of each tile the first value of every key, then the second one of every key, and
 *     so on: [tiles × dimension][TILE]. Each is an array of its own, since the JVM's compiler makes
 *     vectors only of loops that count all arrays from the same place
 * @param count of keys
 */
record KeyColumns(float[][] columns, int count, int dimension) {
  private static final int TILE = 64;
  private static final int AT_ONCE = 4;

  /** Room for keys. */
  KeyColumns(int count, int dimension) {
    this(
        new float[Math.multiplyExact(Math.ceilDiv(count, TILE), dimension)][TILE],
        count,
        dimension);
  }

  /** A head's keys. */
  static KeyColumns of(StridedRows keys, int count, int dimension) {
    KeyColumns columns = new KeyColumns(count, dimension);
    for (int key = 0; key < count; key++) {
      for (int d = 0; d < dimension; d++) {
        columns.set(key, d, keys.get(key, d));
      }
    }
    return columns;
  }

  float get(int key, int d) {
    return columns[key / TILE * dimension + d][key % TILE];
  }

  void set(int key, int d, float value) {
    columns[key / TILE * dimension + d][key % TILE] = value;
  }

  /**
   * Products of a query with some keys.
   *
   * @param query already scaled
   * @param out receives a key's product at the key's index
   */
  void products(float[] query, int from, int to, float[] out) {
    float[] sums = new float[TILE];
    for (int key = from; key < to; ) {
      int first = key % TILE;
      int end = Math.min(TILE, first + to - key);
      Arrays.fill(sums, 0);
      ofTile(query, key / TILE * dimension, first, end, sums);
      System.arraycopy(sums, first, out, key, end - first);
      key += end - first;
    }
  }

  private void ofTile(float[] query, int column, int first, int end, float[] sums) {
    int d = 0;
    for (; d + AT_ONCE <= dimension; d += AT_ONCE) {
      add(query, d, column + d, first, end, sums);
    }
    for (; d < dimension; d++) {
      float factor = query[d];
      float[] values = columns[column + d];
      for (int i = first; i < end; i++) {
        sums[i] += factor * values[i];
      }
    }
  }

  /** Four values at a time: the sums are read and written a quarter as often. */
  private void add(float[] query, int d, int column, int first, int end, float[] sums) {
    float factor = query[d];
    float second = query[d + 1];
    float third = query[d + 2];
    float fourth = query[d + 3];
    float[] a = columns[column];
    float[] b = columns[column + 1];
    float[] c = columns[column + 2];
    float[] e = columns[column + 3];
    for (int i = first; i < end; i++) {
      sums[i] += factor * a[i] + second * b[i] + third * c[i] + fourth * e[i];
    }
  }

  /** A query times the scale, as {@link #products} takes it. */
  static void scaled(StridedRows queries, int query, float scale, float[] out) {
    for (int d = 0; d < out.length; d++) {
      out[d] = scale * queries.get(query, d);
    }
  }
}
