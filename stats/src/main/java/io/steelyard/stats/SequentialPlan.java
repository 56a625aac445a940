package io.steelyard.stats;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The confidence level that each look at a growing sample may use, so that the intervals of all
 * looks together miss the truth with at most the chance that a single look was to have.
 *
 * <p>A lab that looks after every block and stops when the verdict is settled chooses the look that
 * suits it; an interval of 95 % taken at each would then miss more often than 5 %. Here every look
 * spends a part of the 5 %: once a share f of the study is over, α·f² in all, the power family of
 * Kim and DeMets, "Design and analysis of group sequential tests based on the type I error spending
 * rate function", Biometrika 74 (1987). The share may be one of time, known only when the look is
 * taken (Lan and DeMets, "Discrete sequential boundaries for clinical trials", Biometrika 70
 * (1983)), as long as it doesn't follow from what was measured. The intervals are repeated
 * confidence intervals (Jennison and Turnbull, "Group Sequential Methods" (2000), chapter 9): they
 * hold together at all looks, whatever made the lab stop. For normal block values the levels are
 * exact, not borrowed from the normal limit, which at three blocks would be wrong; see {@code
 * StudentPaths}.
 */
public final class SequentialPlan {

  /** With fewer blocks Student's t has fewer than two degrees of freedom and says nothing. */
  public static final int FIRST_LOOK = 3;

  /** The most blocks that a plan may hold. */
  public static final int MOST_LOOKS = 200;

  /** So many plans are kept: several runs of the most looks, a few levels each. */
  private static final int KEPT = 4_000;

  /** Share of α that a look gets at least, lest one that no time went before have none. */
  private static final double LEAST_SPENT = 1e-6;

  private record Key(int firstLook, List<Double> shares, double level) {}

  /** A study asks for the same few plans at every look, each one look longer than the last. */
  private static final Map<Key, SequentialPlan> KNOWN =
      new LinkedHashMap<>(KEPT, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, SequentialPlan> eldest) {
          return size() > KEPT;
        }
      };

  private final int firstLook;
  private final double[] levels;
  private final double spent;
  private final StudentPaths inside;

  private SequentialPlan(int firstLook, double[] levels, double spent, StudentPaths inside) {
    this.firstLook = firstLook;
    this.levels = levels;
    this.spent = spent;
    this.inside = inside;
  }

  /**
   * A plan of looks after every block from the first look to the last.
   *
   * @param firstLook blocks at the first look, at least two
   * @param lastLook blocks at the last look, at most {@value #MOST_LOOKS}
   * @param level the level at which the intervals of all looks hold together
   */
  public static SequentialPlan of(int firstLook, int lastLook, double level) {
    return spending(
        firstLook,
        IntStream.rangeClosed(firstLook, lastLook).mapToObj(k -> (double) k / lastLook).toList(),
        level);
  }

  /**
   * A plan of looks after every block from the first look on, by what share of the study is over.
   *
   * @param firstLook blocks at the first look, at least two
   * @param shares at each look, not falling, above 0 and at most 1; the last look has 1 only where
   *     none can follow
   * @param level the level at which the intervals of all looks hold together
   */
  public static SequentialPlan spending(int firstLook, List<Double> shares, double level) {
    int lastLook = firstLook + shares.size() - 1;
    if (firstLook < 2 || lastLook < firstLook || lastLook > MOST_LOOKS) {
      throw new IllegalArgumentException(
          "looks from block %d to block %d: the first needs two blocks, the last at most %d"
              .formatted(firstLook, lastLook, MOST_LOOKS));
    }
    double before = 0;
    for (double share : shares) {
      if (!(share >= before && share > 0 && share <= 1)) {
        throw new IllegalArgumentException(
            "the shares %s must rise within (0, 1]".formatted(shares));
      }
      before = share;
    }
    double alpha = 1 - Checks.level(level);
    synchronized (KNOWN) {
      SequentialPlan plan = null;
      for (int looks = 1; looks <= shares.size(); looks++) {
        SequentialPlan shorter = plan;
        double share = shares.get(looks - 1);
        plan =
            KNOWN.computeIfAbsent(
                new Key(firstLook, List.copyOf(shares.subList(0, looks)), level),
                _ -> (shorter == null ? none(firstLook) : shorter).next(share, alpha));
      }
      return plan;
    }
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

  /** The confidence level of the last look. */
  public double lastLevel() {
    return levelAt(lastLook());
  }

  private static SequentialPlan none(int firstLook) {
    StudentPaths inside = StudentPaths.start();
    for (int size = 2; size < firstLook; size++) {
      inside = inside.next(StudentPaths.unbounded(size));
    }
    return new SequentialPlan(firstLook, new double[0], 0, inside);
  }

  /** This plan with one more look. */
  private SequentialPlan next(double share, double alpha) {
    int look = lastLook() + 1;
    double chance = Math.max(alpha * share * share - spent, alpha * LEAST_SPENT);
    // Nothing was lost before the first look, so Student's own quantile is exact there.
    double level =
        look == firstLook ? 1 - chance : StudentPaths.level(look, inside.boundaryFor(chance));
    double[] all = Arrays.copyOf(levels, levels.length + 1);
    all[levels.length] = level;
    return new SequentialPlan(
        firstLook, all, spent + chance, inside.next(StudentPaths.boundary(look, level)));
  }
}
