package io.steelyard.stats;

import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * Holm's correction for a family of tests: the chance of any false alarm in the family stays below
 * the level. Source: Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
 * Journal of Statistics 6 (1979).
 */
public final class Holm {

  private Holm() {}

  /**
   * Adjusted p-values, in the order given: the smallest times m, the next times m − 1, and so on,
   * none smaller than the one before it, none above 1.
   *
   * @param pValues each from 0 to 1
   */
  public static double[] adjust(double... pValues) {
    for (int i = 0; i < pValues.length; i++) {
      if (!(pValues[i] >= 0 && pValues[i] <= 1)) {
        throw new IllegalArgumentException(
            "pValues[" + i + "] is " + pValues[i] + "; a p-value is from 0 to 1");
      }
    }
    int[] order =
        IntStream.range(0, pValues.length)
            .boxed()
            .sorted(Comparator.comparingDouble(i -> pValues[i]))
            .mapToInt(Integer::intValue)
            .toArray();
    double[] adjusted = new double[pValues.length];
    double largest = 0;
    for (int rank = 0; rank < order.length; rank++) {
      largest = Math.max(largest, Math.min(1, (order.length - rank) * pValues[order[rank]]));
      adjusted[order[rank]] = largest;
    }
    return adjusted;
  }
}
