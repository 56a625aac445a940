package io.steelyard.stats;

import java.util.Arrays;
import java.util.Optional;
import org.apache.commons.statistics.distribution.NormalDistribution;

/**
 * The U test of Mann and Whitney (1947), two-sided: whether values of one set tend to be larger
 * than those of the other. Up to {@value #EXACT} values together the p-value is exact, ties
 * included (by the permutation distribution of the mid-ranks); beyond, it is the normal
 * approximation with corrections for ties and continuity.
 *
 * @param u pairs in which the first value is larger, ties counting half
 * @param pValue two-sided: twice the smaller tail, at most 1
 */
public record MannWhitney(double u, double pValue) {

  /** Most values together for which the p-value is exact. */
  public static final int EXACT = 60;

  /** Tests two sets of fork means; empty where one of them is. */
  public static Optional<MannWhitney> of(double[] first, double[] second) {
    Checks.finite(first, "first");
    Checks.finite(second, "second");
    if (first.length == 0 || second.length == 0) {
      return Optional.empty();
    }
    double[] all = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, all, first.length, second.length);
    int[] doubledRanks = doubledRanks(all);
    int doubledSum = 0;
    for (int i = 0; i < first.length; i++) {
      doubledSum += doubledRanks[i];
    }
    double u = doubledSum / 2.0 - first.length * (first.length + 1) / 2.0;
    double pValue =
        all.length <= EXACT
            ? exact(doubledRanks, first.length, doubledSum)
            : approximate(doubledRanks, first.length, u);
    return Optional.of(new MannWhitney(u, pValue));
  }

  /** Twice the mid-rank of each value: an integer even with ties. */
  private static int[] doubledRanks(double[] values) {
    int[] ranks = new int[values.length];
    for (int i = 0; i < values.length; i++) {
      int smaller = 0;
      int equal = 0;
      for (double other : values) {
        if (other < values[i]) {
          smaller++;
        } else if (other == values[i]) {
          equal++;
        }
      }
      ranks[i] = 2 * smaller + equal + 1;
    }
    return ranks;
  }

  /** Share of all choices of that many ranks whose sum is as far out, both tails. */
  private static double exact(int[] ranks, int chosen, int sum) {
    int total = Arrays.stream(ranks).sum();
    // ways[c][s]: choices of c of the ranks seen so far with sum s; exact in a double below 2^53,
    // and to 16 digits above.
    double[][] ways = new double[chosen + 1][total + 1];
    ways[0][0] = 1;
    for (int rank : ranks) {
      for (int count = chosen; count > 0; count--) {
        for (int s = total; s >= rank; s--) {
          ways[count][s] += ways[count - 1][s - rank];
        }
      }
    }
    double all = 0;
    double below = 0;
    double above = 0;
    for (int s = 0; s <= total; s++) {
      all += ways[chosen][s];
      below += s <= sum ? ways[chosen][s] : 0;
      above += s >= sum ? ways[chosen][s] : 0;
    }
    return Math.min(1, 2 * Math.min(below, above) / all);
  }

  private static double approximate(int[] ranks, int firstSize, double u) {
    double n = ranks.length;
    double secondSize = n - firstSize;
    int[] sorted = ranks.clone();
    Arrays.sort(sorted);
    double ties = 0;
    for (int i = 0, next; i < sorted.length; i = next) {
      next = i;
      while (next < sorted.length && sorted[next] == sorted[i]) {
        next++;
      }
      double size = next - i;
      ties += size * size * size - size;
    }
    double variance = firstSize * secondSize / 12 * (n + 1 - ties / (n * (n - 1)));
    if (variance == 0) {
      return 1;
    }
    double distance = Math.abs(u - firstSize * secondSize / 2) - 0.5;
    return Math.min(
        1, 2 * NormalDistribution.of(0, 1).survivalProbability(distance / Math.sqrt(variance)));
  }
}
