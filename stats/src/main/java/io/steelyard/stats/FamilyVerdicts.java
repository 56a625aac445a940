package io.steelyard.stats;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * The verdicts of ratios that are judged together, such as all metrics of a run. Each at 95 % would
 * see a difference where there is none in one of a few runs; here the whole family does so in at
 * most one of a hundred, whatever the number of ratios.
 *
 * <p>Source: Holm, "A simple sequentially rejective multiple test procedure" (1979).
 */
public final class FamilyVerdicts {
  /** How sure all of a family's {@code faster} and {@code slower} are together. */
  public static final double LEVEL = 0.99;

  private FamilyVerdicts() {}

  /** A ratio, with its interval at any level. */
  @FunctionalInterface
  public interface Ratio {
    /** Its interval; empty where there are too few forks for any. */
    Optional<Interval> interval(double level);
  }

  /**
   * Judges ratios that are turned so that above 1 is better: {@code faster} and {@code slower} by
   * Holm's method, {@code equivalent} by the 95 % interval.
   *
   * @param margin the change that matters, such as 0.02
   * @return a verdict for each, in order
   */
  public static List<Verdict> of(List<? extends Ratio> ratios, double margin) {
    return of(ratios, Collections.nCopies(ratios.size(), margin));
  }

  /**
   * The same, each ratio with its own margin.
   *
   * @param margins as many as ratios
   */
  public static List<Verdict> of(List<? extends Ratio> ratios, List<Double> margins) {
    if (margins.size() != ratios.size()) {
      throw new IllegalArgumentException(
          "%d margins for %d ratios".formatted(margins.size(), ratios.size()));
    }
    List<Verdict> verdicts =
        new ArrayList<>(Collections.nCopies(ratios.size(), Verdict.INCONCLUSIVE));
    int undecided = ratios.size();
    boolean more = true;
    while (more && undecided > 0) {
      more = false;
      double level = levelOf(undecided);
      for (int i = 0; i < ratios.size() && !more; i++) {
        if (verdicts.get(i) == Verdict.INCONCLUSIVE) {
          Verdict verdict = at(ratios.get(i), level, margins.get(i));
          if (differs(verdict)) {
            verdicts.set(i, verdict);
            undecided--;
            more = true;
          }
        }
      }
    }
    for (int i = 0; i < ratios.size(); i++) {
      boolean equivalent = at(ratios.get(i), Intervals.LEVEL, margins.get(i)) == Verdict.EQUIVALENT;
      if (verdicts.get(i) == Verdict.INCONCLUSIVE && equivalent) {
        verdicts.set(i, Verdict.EQUIVALENT);
      }
    }
    return verdicts;
  }

  /** The level at which one of so many undecided ratios is judged. */
  public static double levelOf(int undecided) {
    return 1 - (1 - LEVEL) / undecided;
  }

  private static Verdict at(Ratio ratio, double level, double margin) {
    return ratio
        .interval(level)
        .map(interval -> Verdict.of(interval, margin))
        .orElse(Verdict.INCONCLUSIVE);
  }

  private static boolean differs(Verdict verdict) {
    return verdict == Verdict.FASTER || verdict == Verdict.SLOWER;
  }
}
