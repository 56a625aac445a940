package io.steelyard.kernels.attention;

/** Finds the largest of some numbers. Source: Hoare, "Algorithm 65: Find" (1961). */
final class TopKeys {
  private TopKeys() {}

  /**
   * The number that is the k-th largest.
   *
   * @param values reordered
   * @param k from 1 to {@code count}
   */
  static float largest(float[] values, int count, int k) {
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
