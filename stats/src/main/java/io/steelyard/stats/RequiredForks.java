package io.steelyard.stats;

import java.util.OptionalInt;

/** How many forks an inconclusive ratio would need. */
public final class RequiredForks {

  private RequiredForks() {}

  /**
   * The smallest number of forks, from those there are, at which the ratio would get a verdict if
   * estimate and spread stayed as they are: in logarithms each bound moves towards the estimate as
   * t<sub>n−1</sub>/√n does.
   *
   * @param ratio the ratio so far, with its interval
   * @param forks the forks behind it, at least two
   * @param margin the change that matters, such as 0.02
   * @param cap the most forks to consider
   * @return empty where even {@code cap} forks would not settle it: the estimate lies on, or too
   *     near, a bound of the margin
   */
  public static OptionalInt toSettle(Interval ratio, int forks, double margin, int cap) {
    if (forks < 2) {
      throw new IllegalArgumentException(forks + " forks have no spread to go by; two are needed");
    }
    if (!(ratio.low() > 0) || !Double.isFinite(ratio.high())) {
      throw new IllegalArgumentException(ratio + " is not the interval of a ratio");
    }
    if (Verdict.of(ratio, margin) != Verdict.INCONCLUSIVE) {
      return OptionalInt.of(forks);
    }
    double scaleNow = scale(forks, ratio.level());
    for (int n = forks + 1; n <= cap; n++) {
      double shrink = scale(n, ratio.level()) / scaleNow;
      Interval then =
          new Interval(
              ratio.estimate(),
              ratio.estimate() * Math.pow(ratio.low() / ratio.estimate(), shrink),
              ratio.estimate() * Math.pow(ratio.high() / ratio.estimate(), shrink),
              ratio.level());
      if (Verdict.of(then, margin) != Verdict.INCONCLUSIVE) {
        return OptionalInt.of(n);
      }
    }
    return OptionalInt.empty();
  }

  private static double scale(int forks, double level) {
    return StudentT.critical(forks, level) / Math.sqrt(forks);
  }
}
