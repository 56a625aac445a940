package io.steelyard.stats;

/** The fewest forks at which a test can reach a level at all. */
public final class MinimumForks {

  private MinimumForks() {}

  /**
   * The fewest blocks at which the two-sided {@link PairedPermutation} test can reach a level: its
   * smallest p-value with n blocks is 2/2<sup>n</sup>, so 6 blocks for 0.05 and 8 for 0.01.
   *
   * @param alpha the level, such as 0.05
   */
  public static int forLevel(double alpha) {
    checkLevel(alpha);
    int blocks = 1;
    for (double smallest = 1; smallest > alpha; smallest /= 2) {
      blocks++;
    }
    return blocks;
  }

  /**
   * The fewest forks on each side at which the two-sided {@link MannWhitney} test can reach a
   * level: its smallest p-value with n forks on each side is 2 over (2n choose n), so 4 forks for
   * 0.05 and 5 for 0.01.
   *
   * @param alpha the level, such as 0.05
   */
  public static int forMannWhitney(double alpha) {
    checkLevel(alpha);
    int forks = 1;
    for (double smallest = 1; smallest > alpha; forks++) {
      // (2n choose n) grows by 2·(2n + 1)/(n + 1) from n to n + 1.
      smallest *= (forks + 1) / (2.0 * (2 * forks + 1));
    }
    return forks;
  }

  private static void checkLevel(double alpha) {
    if (!(alpha > 0 && alpha < 1)) {
      throw new IllegalArgumentException("level " + alpha + " is outside 0…1; 0.05 is usual");
    }
  }
}
