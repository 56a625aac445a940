package io.steelyard.stats;

/** The fewest forks at which a test can reach a level at all. */
public final class MinimumForks {

  private MinimumForks() {}

  /**
   * The fewest blocks at which the two-sided paired permutation test can reach a level: its
   * smallest p-value with n blocks is 2/2<sup>n</sup>, so 6 blocks for 0.05 and 8 for 0.01.
   *
   * @param alpha the level, such as 0.05
   */
  public static int forLevel(double alpha) {
    if (!(alpha > 0 && alpha < 1)) {
      throw new IllegalArgumentException("level " + alpha + " is outside 0…1; 0.05 is usual");
    }
    int blocks = 1;
    for (double smallest = 1; smallest > alpha; smallest /= 2) {
      blocks++;
    }
    return blocks;
  }
}
