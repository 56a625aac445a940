package io.steelyard.stats;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The confidence level that each look at a growing sample may use, so that the intervals of all
 * looks together miss the truth with at most the chance that a single look was to have.
 *
 * <p>A lab that looks after every block and stops when the verdict is settled chooses the look that
 * suits it; an interval of 95 % taken at each would then miss more often than 5 %. Here every look
 * spends a part of the 5 %: after k of at most K blocks, α·(k/K)² in all, the power family of Kim
 * and DeMets, "Design and analysis of group sequential tests based on the type I error spending
 * rate function", Biometrika 74 (1987). The intervals are repeated confidence intervals (Jennison
 * and Turnbull, "Group Sequential Methods" (2000), chapter 9): they hold together at all looks,
 * whatever made the lab stop. For normal block values the levels are exact, not borrowed from the
 * normal limit, which at three blocks would be wrong; see {@code StudentPaths}.
 */
public final class SequentialPlan {

  /** With fewer blocks Student's t has fewer than two degrees of freedom and says nothing. */
  public static final int FIRST_LOOK = 3;

  /** The most blocks that a plan may hold. */
  public static final int MOST_LOOKS = 200;

  private record Key(int firstLook, int lastLook, double level) {}

  /** A study asks for the same few plans at every look. */
  private static final Map<Key, SequentialPlan> KNOWN = new ConcurrentHashMap<>();

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
   * @param lastLook blocks at the last look, at most {@value #MOST_LOOKS}
   * @param level the level at which the intervals of all looks hold together
   */
  public static SequentialPlan of(int firstLook, int lastLook, double level) {
    if (firstLook < 2 || lastLook < firstLook || lastLook > MOST_LOOKS) {
      throw new IllegalArgumentException(
          "looks from block %d to block %d: the first needs two blocks, the last at most %d"
              .formatted(firstLook, lastLook, MOST_LOOKS));
    }
    double alpha = 1 - Checks.level(level);
    return KNOWN.computeIfAbsent(
        new Key(firstLook, lastLook, level),
        _ -> new SequentialPlan(firstLook, levels(firstLook, lastLook, alpha)));
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
    return alpha * fraction * fraction;
  }

  private static double[] levels(int firstLook, int lastLook, double alpha) {
    double[] levels = new double[lastLook - firstLook + 1];
    StudentPaths inside = StudentPaths.start();
    for (int size = 2; size < firstLook; size++) {
      inside = inside.next(StudentPaths.unbounded(size));
    }
    double spentBefore = 0;
    for (int look = firstLook; look <= lastLook; look++) {
      double spent = spent((double) look / lastLook, alpha);
      // Nothing was lost before the first look, so Student's own quantile is exact there.
      double level =
          look == firstLook
              ? 1 - spent
              : StudentPaths.level(look, inside.boundaryFor(spent - spentBefore));
      levels[look - firstLook] = level;
      inside = inside.next(StudentPaths.boundary(look, level));
      spentBefore = spent;
    }
    return levels;
  }
}
