package io.steelyard.stats;

import org.apache.commons.statistics.distribution.NormalDistribution;

/**
 * The confidence level that each look at a growing sample may use, so that the intervals of all
 * looks together miss the truth with at most the chance that a single look was to have.
 *
 * <p>A lab that looks after every block and stops when the verdict is settled chooses the look that
 * suits it; an interval of 95 % taken at each would then miss more often than 5 %. Here every look
 * spends a part of the 5 %: after k of at most K blocks, α·ln(1 + (e − 1)·k/K) in all, the
 * Pocock-type function of Lan and DeMets, "Discrete sequential boundaries for clinical trials",
 * Biometrika 70 (1983). The boundaries follow by the recursion of Armitage, McPherson and Rowe
 * (1969) for sums of independent normal values, and are applied to Student's t as levels (Jennison
 * and Turnbull, "Group Sequential Methods" (2000), sections 4.4 and 9.2: repeated confidence
 * intervals), so that they hold whatever made the lab stop.
 */
public final class SequentialPlan {

  /** With fewer blocks Student's t has fewer than two degrees of freedom and says nothing. */
  public static final int FIRST_LOOK = 3;

  private static final NormalDistribution NORMAL = NormalDistribution.of(0, 1);

  private final int firstLook;
  private final double[] levels;

  private SequentialPlan(int firstLook, double[] levels) {
    this.firstLook = firstLook;
    this.levels = levels;
  }

  /**
   * A plan of looks after every block from the third to the last, for intervals that hold together
   * at 95 %.
   *
   * @param lastLook the most blocks that will be run, at least two; with two or three there is one
   *     look, at the full level
   */
  public static SequentialPlan upTo(int lastLook) {
    return of(Math.min(FIRST_LOOK, lastLook), lastLook, Intervals.LEVEL);
  }

  /**
   * A plan of looks after every block from the first look to the last.
   *
   * @param firstLook blocks at the first look, at least two
   * @param lastLook blocks at the last look, at most 1000
   * @param level the level at which the intervals of all looks hold together
   */
  public static SequentialPlan of(int firstLook, int lastLook, double level) {
    if (firstLook < 2 || lastLook < firstLook || lastLook > 1000) {
      throw new IllegalArgumentException(
          "looks from block %d to block %d: the first needs two blocks, the last at most 1000"
              .formatted(firstLook, lastLook));
    }
    double alpha = 1 - Checks.level(level);
    return new SequentialPlan(firstLook, levels(firstLook, lastLook, alpha));
  }

  /** Blocks at the first look. */
  public int firstLook() {
    return firstLook;
  }

  /** Blocks at the last look. */
  public int lastLook() {
    return firstLook + levels.length - 1;
  }

  /**
   * The confidence level of the look after so many blocks.
   *
   * @throws IllegalArgumentException if the plan has no look there
   */
  public double levelAt(int blocks) {
    if (blocks < firstLook || blocks > lastLook()) {
      throw new IllegalArgumentException(
          "the plan looks from block %d to block %d, not at block %d"
              .formatted(firstLook, lastLook(), blocks));
    }
    return levels[blocks - firstLook];
  }

  private static double spent(double fraction, double alpha) {
    return alpha * Math.log1p((Math.E - 1) * fraction);
  }

  private static double[] levels(int firstLook, int lastLook, double alpha) {
    double[] levels = new double[lastLook - firstLook + 1];
    double spentBefore = 0;
    Inside inside = Inside.start(firstLook);
    for (int look = firstLook; look <= lastLook; look++) {
      double spent = spent((double) look / lastLook, alpha);
      double boundary = inside.boundaryFor(spent - spentBefore);
      levels[look - firstLook] = 1 - 2 * NORMAL.survivalProbability(boundary / Math.sqrt(look));
      inside = inside.next(boundary);
      spentBefore = spent;
    }
    return levels;
  }

  /**
   * The paths of a sum of standard normal values that have stayed inside all boundaries: masses on
   * a grid of points of the sum before the coming look, and the variance that the look adds.
   */
  private record Inside(double[] points, double[] masses, double variance) {

    /** Enough for seven digits of a level; the integrand is smooth. */
    private static final int CELLS = 240;

    static Inside start(int firstLook) {
      return new Inside(new double[] {0}, new double[] {1}, firstLook);
    }

    double crossing(double boundary) {
      double deviation = Math.sqrt(variance);
      double chance = 0;
      for (int i = 0; i < points.length; i++) {
        chance +=
            masses[i]
                * (NORMAL.survivalProbability((boundary - points[i]) / deviation)
                    + NORMAL.survivalProbability((boundary + points[i]) / deviation));
      }
      return chance;
    }

    /** The boundary of the absolute sum that the paths cross with the given chance. */
    double boundaryFor(double chance) {
      double low = 0;
      double high = points[points.length - 1] + 40 * Math.sqrt(variance);
      for (int step = 0; step < 200 && high - low > 1e-12 * high; step++) {
        double middle = (low + high) / 2;
        if (crossing(middle) > chance) {
          low = middle;
        } else {
          high = middle;
        }
      }
      return high;
    }

    /** The paths inside the boundary, one block before the next look; Simpson's rule. */
    Inside next(double boundary) {
      double[] grid = new double[CELLS + 1];
      double[] mass = new double[CELLS + 1];
      double step = 2 * boundary / CELLS;
      double deviation = Math.sqrt(variance);
      for (int j = 0; j <= CELLS; j++) {
        grid[j] = -boundary + j * step;
        double density = 0;
        for (int i = 0; i < points.length; i++) {
          density += masses[i] * NORMAL.density((grid[j] - points[i]) / deviation) / deviation;
        }
        double simpson = j == 0 || j == CELLS ? 1 : j % 2 == 1 ? 4 : 2;
        mass[j] = density * simpson * step / 3;
      }
      return new Inside(grid, mass, 1);
    }
  }
}
