package io.steelyard.kernels.attention;

import java.util.Arrays;

/**
 * Upper bounds of a query's products with all keys of a block.
 *
 * <p>The bound is the smaller of two: the largest product that keys between the block's smallest
 * and largest values can have, and the product with the block's centre plus what the farthest key's
 * distance from it can add.
 */
final class BlockBounds {
  /** What a bound takes: products with the smallest and the largest values, and the centre. */
  static final int PRODUCTS = 3;

  /** What sums in float32 may be off by, as a share of both norms' product: a bound must hold. */
  private static final float ROUNDING = 1e-5f;

  private final int dimension;
  private final KeyColumns smallest;
  private final KeyColumns largest;
  private final KeyColumns centres;
  private final float[] radii;
  private final float[] norms;

  private BlockBounds(
      KeyColumns smallest, KeyColumns largest, KeyColumns centres, float[] radii, float[] norms) {
    this.dimension = smallest.dimension();
    this.smallest = smallest;
    this.largest = largest;
    this.centres = centres;
    this.radii = radii;
    this.norms = norms;
  }

  static BlockBounds of(KeyColumns keys, int block) {
    int dimension = keys.dimension();
    int blocks = Math.ceilDiv(keys.count(), block);
    KeyColumns smallest = new KeyColumns(blocks, dimension);
    KeyColumns largest = new KeyColumns(blocks, dimension);
    KeyColumns centres = new KeyColumns(blocks, dimension);
    float[] radii = new float[blocks];
    float[] norms = new float[blocks];
    for (int b = 0; b < blocks; b++) {
      int from = b * block;
      int to = Math.min(from + block, keys.count());
      double[] squares = new double[to - from];
      double extremes = 0;
      for (int d = 0; d < dimension; d++) {
        float least = Float.POSITIVE_INFINITY;
        float most = Float.NEGATIVE_INFINITY;
        double sum = 0;
        for (int key = from; key < to; key++) {
          float value = keys.get(key, d);
          least = Math.min(least, value);
          most = Math.max(most, value);
          sum += value;
        }
        float mean = (float) (sum / (to - from));
        for (int key = from; key < to; key++) {
          double off = keys.get(key, d) - (double) mean;
          squares[key - from] += off * off;
        }
        smallest.set(b, d, least);
        largest.set(b, d, most);
        centres.set(b, d, mean);
        extremes += Math.max((double) least * least, (double) most * most);
      }
      norms[b] = (float) Math.sqrt(extremes);
      radii[b] = (float) Math.sqrt(Arrays.stream(squares).max().orElse(0));
    }
    return new BlockBounds(smallest, largest, centres, radii, norms);
  }

  int blocks() {
    return radii.length;
  }

  /**
   * The bounds of the first blocks.
   *
   * @param query already scaled
   */
  void of(float[] query, int count, float[] out) {
    float[] below = new float[dimension];
    float[] above = new float[dimension];
    float norm = 0;
    for (int d = 0; d < dimension; d++) {
      below[d] = Math.min(query[d], 0);
      above[d] = Math.max(query[d], 0);
      norm += query[d] * query[d];
    }
    norm = (float) Math.sqrt(norm);
    float[] other = new float[count];
    // Values below 0 have their largest product with the smallest key.
    smallest.products(below, 0, count, other);
    largest.products(above, 0, count, out);
    for (int b = 0; b < count; b++) {
      other[b] += out[b];
    }
    centres.products(query, 0, count, out);
    for (int b = 0; b < count; b++) {
      float reach = Math.min(other[b], out[b] + norm * radii[b]);
      out[b] = reach + ROUNDING * norm * norms[b];
    }
  }

  /** The mean of each block's keys. */
  KeyColumns centres() {
    return centres;
  }
}
