package io.steelyard.stats;

import java.util.Arrays;
import java.util.OptionalInt;

/**
 * Whether repeated calls have settled: online, to end a warm-up, and afterwards, to name its class.
 *
 * <p>Both work on logarithms of the times, so that every threshold is a relative change.
 */
public final class WarmUp {

  /** A change over the window that is too small to matter: half the usual margin of a verdict. */
  static final double TOLERANCE = 0.01;

  /** Iterations that spread no more than this are settled unless they show a trend. */
  static final double QUIET = 0.03;

  /** A trend is believed when chance alone would show it in one series of six. */
  private static final double TREND_CHANCE = 1.0 / 6 + 1e-12;

  /** With fewer iterations nothing is settled. */
  public static final int LEAST_ITERATIONS = 3;

  private static final int SHORTEST_WINDOW = LEAST_ITERATIONS;
  private static final int NOISY_WINDOW = 8;
  private static final int LONGEST_WINDOW = 40;

  /** A change point must save this many times ln n, in units of the noise variance. */
  private static final double PENALTY = 4;

  /** Noise below this is taken for this, so that changes of a few per mille are no change. */
  private static final double LEAST_NOISE = 0.004;

  private WarmUp() {}

  /** The classes of Barrett et al. (2017). */
  public enum Kind {
    /** No change from the first iteration on. */
    FLAT,
    /** The last level is the fastest. */
    WARM_UP,
    /** An earlier level was faster than the last. */
    SLOWDOWN,
    /** The times still changed near the end. */
    NO_STEADY_STATE
  }

  /**
   * What a series of times turned out to be.
   *
   * @param kind its class
   * @param steadyStart index of the first steady iteration; empty without a steady state
   */
  public record Classification(Kind kind, OptionalInt steadyStart) {}

  /**
   * Whether warm-up may end after these iterations. Two ways lead there:
   *
   * <ul>
   *   <li><em>quiet</em>: the last max(3, n/3) iterations spread over no more than 3 %, and show no
   *       trend that matters;
   *   <li><em>noisy</em>: there are at least eight iterations, and the last max(8, n/2), cleared of
   *       spikes, show no trend that matters, and the very last is not far below the rest.
   * </ul>
   *
   * A trend matters when Theil and Sen's slope makes more than 1 % of it over the window, and Mann
   * and Kendall's exact test gives it a one-sided chance of at most 1/6. The test is so lenient
   * towards trends because its two errors cost so differently: to see one that isn't there costs
   * one more iteration, to miss one spoils the sample. With three to seven iterations nothing can
   * tell noise from warm-up but its size; hence the quiet rule.
   *
   * @param times one time an iteration, oldest first, above 0
   */
  public static boolean settled(double[] times) {
    double[] logs = logs(times);
    int n = logs.length;
    if (n < SHORTEST_WINDOW) {
      return false;
    }
    double[] last = tail(logs, Math.max(SHORTEST_WINDOW, n / 3));
    if (range(last) <= QUIET && !hasTrend(last)) {
      return true;
    }
    if (n < NOISY_WINDOW) {
      return false;
    }
    double[] half = tail(withoutSpikes(logs), Math.max(NOISY_WINDOW, n / 2));
    return !hasTrend(half) && !hasJustDropped(half);
  }

  /** Whether the last value alone is far below the others: too little for a trend, yet a change. */
  private static boolean hasJustDropped(double[] logs) {
    double noise = Math.max(LEAST_NOISE, ChangePoints.noiseOf(logs));
    return logs[logs.length - 1] < Quantiles.median(logs) - Spikes.FAR * noise;
  }

  private static boolean hasTrend(double[] logs) {
    return Math.abs(Robust.slope(logs)) * (logs.length - 1) > TOLERANCE
        && MannKendall.oneSided(logs) <= TREND_CHANCE;
  }

  private static double[] tail(double[] values, int length) {
    return Arrays.copyOfRange(
        values, values.length - Math.min(length, LONGEST_WINDOW), values.length);
  }

  private static double range(double[] values) {
    return Arrays.stream(values).max().orElseThrow() - Arrays.stream(values).min().orElseThrow();
  }

  /**
   * The class of a whole series, after Barrett, Bolz-Tereick, Killick, Mount and Tratt, "Virtual
   * machine warmup blows hot and cold", OOPSLA 2017: isolated spikes are replaced by the median of
   * their neighbours, PELT cuts the series into levels, and levels that differ from the last by no
   * more than the noise (or 1 %) count as the last. There is a steady state when that last level
   * lasts for at least a quarter of the series and three iterations.
   *
   * @param times one time an iteration, oldest first, above 0, at least one
   */
  public static Classification classify(double[] times) {
    double[] logs = logs(times);
    int n = logs.length;
    if (n == 0) {
      throw new IllegalArgumentException("a series without iterations has no class");
    }
    if (n <= SHORTEST_WINDOW) {
      // Too short to be cut: all that can be said is whether it was quiet.
      return n > 1 && range(logs) > QUIET
          ? new Classification(Kind.NO_STEADY_STATE, OptionalInt.empty())
          : new Classification(Kind.FLAT, OptionalInt.of(0));
    }
    double[] clean = withoutSpikes(logs);
    double noise = Math.max(LEAST_NOISE, ChangePoints.noiseOf(clean));
    int[] starts = ChangePoints.ofMean(clean, noise, PENALTY * Math.log(n), 2);
    double[] levels = levels(clean, starts);

    double last = levels[levels.length - 1];
    double same = Math.max(TOLERANCE, noise);
    int steady = levels.length - 1;
    while (steady > 0 && Math.abs(levels[steady - 1] - last) <= same) {
      steady--;
    }
    int steadyStart = starts[steady];
    if (n - steadyStart < Math.max(SHORTEST_WINDOW, n / 4)) {
      return new Classification(Kind.NO_STEADY_STATE, OptionalInt.empty());
    }
    boolean wasFaster = false;
    for (int level = 0; level < steady; level++) {
      wasFaster |= levels[level] < last - same;
    }
    Kind kind = steady == 0 ? Kind.FLAT : wasFaster ? Kind.SLOWDOWN : Kind.WARM_UP;
    return new Classification(kind, OptionalInt.of(steadyStart));
  }

  private static double[] logs(double[] times) {
    double[] logs = Checks.positive(times, "times").clone();
    for (int i = 0; i < logs.length; i++) {
      logs[i] = Math.log(logs[i]);
    }
    return logs;
  }

  /**
   * The first two stay: a slow first iteration is what warm-up looks like. The last two are spikes
   * only where they are slow: a call is slow by accident, and fast for a reason.
   */
  private static double[] withoutSpikes(double[] logs) {
    double noise = Math.max(LEAST_NOISE, ChangePoints.noiseOf(logs));
    return Spikes.replaced(logs, noise, Spikes.AtEnd.NONE, Spikes.AtEnd.HIGH);
  }

  private static double[] levels(double[] values, int[] starts) {
    double[] levels = new double[starts.length];
    for (int i = 0; i < starts.length; i++) {
      int end = i + 1 < starts.length ? starts[i + 1] : values.length;
      levels[i] = Moments.mean(Arrays.copyOfRange(values, starts[i], end));
    }
    return levels;
  }
}
