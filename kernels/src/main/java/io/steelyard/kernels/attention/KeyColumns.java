package io.steelyard.kernels.attention;

import io.steelyard.kernels.StridedRows;
import java.util.Arrays;

/**
 * Keys held value by value, so that a query's products with many of them are computed side by side.
 *
 * @param columns the first value of every key, then the second one of every key, and so on
 * @param count of keys
 */
record KeyColumns(float[] columns, int count, int dimension) {
  private static final int AT_ONCE = 4;

  /** A head's keys. */
  static KeyColumns of(StridedRows keys, int count, int dimension) {
    float[] columns = new float[Math.multiplyExact(count, dimension)];
    for (int key = 0; key < count; key++) {
      for (int d = 0; d < dimension; d++) {
        columns[d * count + key] = keys.get(key, d);
      }
    }
    return new KeyColumns(columns, count, dimension);
  }

  /**
   * Products of a query with some keys.
   *
   * @param query already scaled
   * @param out receives a key's product at the key's index
   */
  void products(float[] query, int from, int to, float[] out) {
    Arrays.fill(out, from, to, 0);
    int d = 0;
    for (; d + AT_ONCE <= dimension; d += AT_ONCE) {
      add(query, d, from, to, out);
    }
    for (; d < dimension; d++) {
      float factor = query[d];
      int column = d * count;
      for (int key = from; key < to; key++) {
        out[key] += factor * columns[column + key];
      }
    }
  }

  /** Four values at a time: the sums are read and written a quarter as often. */
  private void add(float[] query, int d, int from, int to, float[] out) {
    float first = query[d];
    float second = query[d + 1];
    float third = query[d + 2];
    float fourth = query[d + 3];
    int a = d * count;
    int b = a + count;
    int c = b + count;
    int e = c + count;
    for (int key = from; key < to; key++) {
      out[key] +=
          first * columns[a + key]
              + second * columns[b + key]
              + third * columns[c + key]
              + fourth * columns[e + key];
    }
  }

  /** A query times the scale, as {@link #products} takes it. */
  static void scaled(StridedRows queries, int query, float scale, float[] out) {
    for (int d = 0; d < out.length; d++) {
      out[d] = scale * queries.get(query, d);
    }
  }
}
