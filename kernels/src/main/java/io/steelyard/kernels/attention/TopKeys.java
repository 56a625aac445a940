package io.steelyard.kernels.attention;

/**
 * Finds the largest of some numbers. Many are counted by their leading bits first, which leaves a
 * few to be compared.
 *
 * <p>Source: Hoare, "Algorithm 65: Find" (1961).
 */
final class TopKeys {
  private static final int FEW = 256;

  /** Sign, exponent and two bits of the fraction. */
  private static final int LEADING_BITS = 11;

  private TopKeys() {}

  /**
   * The number that is the k-th largest.
   *
   * @param values may be reordered
   * @param k from 1 to {@code count}
   */
  static float largest(float[] values, int count, int k) {
    if (count <= FEW) {
      return find(values, count, k);
    }
    int[] sizes = new int[1 << LEADING_BITS];
    for (int i = 0; i < count; i++) {
      sizes[leading(values[i])]++;
    }
    int left = k;
    int group = sizes.length - 1;
    while (sizes[group] < left) {
      left -= sizes[group--];
    }
    float[] inGroup = new float[sizes[group]];
    int size = 0;
    for (int i = 0; i < count; i++) {
      if (leading(values[i]) == group) {
        inGroup[size++] = values[i];
      }
    }
    return find(inGroup, size, left);
  }

  /** The larger a number, the larger the whole number that its leading bits make. */
  private static int leading(float value) {
    int bits = Float.floatToRawIntBits(value);
    return (bits ^ (bits >> 31 | Integer.MIN_VALUE)) >>> (Integer.SIZE - LEADING_BITS);
  }

  private static float find(float[] values, int count, int k) {
    int wanted = k - 1;
    int low = 0;
    int high = count - 1;
    while (low < high) {
      float pivot = values[(low + high) >>> 1];
      int i = low;
      int j = high;
      while (i <= j) {
        while (values[i] > pivot) {
          i++;
        }
        while (values[j] < pivot) {
          j--;
        }
        if (i <= j) {
          float swapped = values[i];
          values[i++] = values[j];
          values[j--] = swapped;
        }
      }
      if (wanted <= j) {
        high = j;
      } else if (wanted >= i) {
        low = i;
      } else {
        return values[wanted];
      }
    }
    return values[wanted];
  }
}
