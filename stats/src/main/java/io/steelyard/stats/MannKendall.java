package io.steelyard.stats;

/**
 * The trend test of Mann, "Nonparametric tests against trend", Econometrica 13 (1945): how many
 * pairs of a series rise, less how many fall, against what a shuffled series would show.
 */
final class MannKendall {

  private MannKendall() {}

  /** Rising pairs less falling ones; ties count for neither. */
  static int score(double[] values) {
    int score = 0;
    for (int i = 0; i < values.length; i++) {
      for (int j = i + 1; j < values.length; j++) {
        score += (int) Math.signum(values[j] - values[i]);
      }
    }
    return score;
  }

  /**
   * The chance that a shuffled series without ties has a score as far from 0 on the same side, or
   * farther: exact, from the distribution of the number of inversions.
   */
  static double oneSided(double[] values) {
    int n = values.length;
    int pairs = n * (n - 1) / 2;
    double[] chance = new double[pairs + 1];
    chance[0] = 1;
    int reach = 0;
    for (int size = 2; size <= n; size++) {
      double[] next = new double[pairs + 1];
      for (int inversions = 0; inversions <= reach; inversions++) {
        for (int more = 0; more < size; more++) {
          next[inversions + more] += chance[inversions] / size;
        }
      }
      reach += size - 1;
      chance = next;
    }
    // |score| = pairs − 2·inversions on the side of few inversions.
    int most = (pairs - Math.abs(score(values))) / 2;
    double tail = 0;
    for (int inversions = 0; inversions <= most; inversions++) {
      tail += chance[inversions];
    }
    return Math.min(1, tail);
  }
}
