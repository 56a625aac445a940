package io.steelyard.stats;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Where a sequence changes its level: the exact posterior over all ways to cut it, by the forward
 * and backward recursions of Fearnhead, "Exact and efficient Bayesian inference for multiple
 * changepoint problems", Statistics and Computing 16 (2006), for the model of Barry and Hartigan,
 * "A Bayesian analysis for change point problems", JASA 88 (1993).
 *
 * <p>All places are weighed together, so that a step is placed with its neighbours' places being as
 * unsure as they are. A single best segmentation, as least squares gives it, is the most likely of
 * many, and often none of the likely ones.
 */
final class StepPosterior {
  /** The chance, before anything is seen, that a value begins a new level. */
  static final double RATE = 0.005;

  /** How much seldomer a drift is than a step, before anything is seen. */
  static final double DRIFT_ODDS = 0.05;

  /** Places are told apart up to this many values. */
  static final int NEAR = 2;

  /** Of places that are as good as equal, the one in the middle of what is likely. */
  private static final double TIE = 0.02;

  /** Of the variances of levels that are tried: each is so many times the one before. */
  private static final double FACTOR = 4;

  private static final double LOG_RATE = Math.log(RATE);

  /** Smaller shares of a sum than e to this are below a double's last digit. */
  private static final double NEGLIGIBLE = -40;

  private static final double NONE = Double.NEGATIVE_INFINITY;

  private final LevelEvidence evidence;
  private final int minimumLength;

  /** The posterior for levels of a known spread, of at least so many values each. */
  StepPosterior(LevelEvidence evidence, int minimumLength) {
    this.evidence = evidence;
    this.minimumLength = minimumLength;
  }

  /**
   * The posterior with the spread of levels that makes the values most likely.
   *
   * @param values in order of time
   * @param weights the inverse of each value's noise variance, above 0
   * @param minimumLength fewest values of a level
   */
  static StepPosterior of(double[] values, double[] weights, int minimumLength) {
    double range =
        Arrays.stream(values).max().orElseThrow() - Arrays.stream(values).min().orElseThrow();
    StepPosterior best = null;
    double most = NONE;
    double spread = 1 / Quantiles.median(weights);
    do {
      StepPosterior posterior =
          new StepPosterior(new LevelEvidence(values, weights, spread), minimumLength);
      double likelihood = posterior.forward(0, values.length)[values.length];
      if (best == null || likelihood > most) {
        best = posterior;
        most = likelihood;
      }
      spread *= FACTOR;
    } while (spread <= range * range);
    return best;
  }

  /** Places that more likely than not have a step within {@value #NEAR} values, in order. */
  List<Integer> places() {
    int n = evidence.length();
    double[] chances = chances();
    double[] near = new double[n];
    for (int i = 1; i < n; i++) {
      for (int j = Math.max(1, i - NEAR); j <= Math.min(n - 1, i + NEAR); j++) {
        near[i] += chances[j] * (1 - TIE * Math.abs(i - j));
      }
    }
    List<Integer> places = new ArrayList<>();
    boolean[] taken = new boolean[n];
    while (true) {
      int best = 0;
      for (int i = 1; i < n; i++) {
        best = !taken[i] && near[i] > near[best] ? i : best;
      }
      if (near[best] <= 0.5) {
        places.sort(Comparator.naturalOrder());
        return places;
      }
      places.add(best);
      // The chance that has been spent here must not count for another place.
      Arrays.fill(taken, Math.max(0, best - 2 * NEAR), Math.min(n, best + 2 * NEAR + 1), true);
    }
  }

  /** For each value, the chance that it begins a new level. */
  double[] chances() {
    int n = evidence.length();
    double[] forward = forward(0, n);
    double[] backward = backward();
    double[] chances = new double[n];
    for (int i = 1; i < n; i++) {
      chances[i] = Math.exp(forward[i] + LOG_RATE + backward[i] - forward[n]);
    }
    return chances;
  }

  /**
   * Logarithm of the evidence that a stretch has one or more steps, times the chance of so many.
   */
  double steps(int from, int to) {
    double any = forward(from, to)[to - from];
    double none = evidence.level(from, to);
    return any > none ? any + Math.log1p(-Math.exp(none - any)) : NONE;
  }

  /** The same for a single drift over at least so many values, wherever it begins and ends. */
  double drift(int from, int to, int shortest) {
    int stride = 1 + (to - from) / Ramp.MOST_KNOTS;
    double[] ramps = new double[(Ramp.MOST_KNOTS + 1) * (Ramp.MOST_KNOTS + 1)];
    int count = 0;
    for (int first = from; first + shortest <= to; first += stride) {
      for (int last = to; last - first >= shortest; last -= stride) {
        ramps[count++] = evidence.ramp(from, to, first, last);
      }
    }
    return logOfSum(ramps, count) - Math.log(count) + Math.log(DRIFT_ODDS * RATE * (to - from));
  }

  /** At each end: all ways to cut what is before it, the first level beginning at {@code from}. */
  private double[] forward(int from, int to) {
    double[] sums = new double[to - from + 1];
    Arrays.fill(sums, NONE);
    double[] terms = new double[to - from + 1];
    for (int end = minimumLength; end <= to - from; end++) {
      int count = 0;
      terms[count++] = evidence.level(from, from + end);
      for (int start = minimumLength; start <= end - minimumLength; start++) {
        terms[count++] = sums[start] + LOG_RATE + evidence.level(from + start, from + end);
      }
      sums[end] = logOfSum(terms, count);
    }
    return sums;
  }

  /** At each start: all ways to cut what is behind it. */
  private double[] backward() {
    int n = evidence.length();
    double[] sums = new double[n + 1];
    Arrays.fill(sums, NONE);
    double[] terms = new double[n + 1];
    for (int start = n - minimumLength; start >= 0; start--) {
      int count = 0;
      terms[count++] = evidence.level(start, n);
      for (int end = start + minimumLength; end <= n - minimumLength; end++) {
        terms[count++] = evidence.level(start, end) + LOG_RATE + sums[end];
      }
      sums[start] = logOfSum(terms, count);
    }
    return sums;
  }

  /** The logarithm of the sum of numbers given by theirs. */
  private static double logOfSum(double[] logarithms, int count) {
    double largest = NONE;
    for (int i = 0; i < count; i++) {
      largest = Math.max(largest, logarithms[i]);
    }
    double sum = 0;
    for (int i = 0; i < count; i++) {
      double below = logarithms[i] - largest;
      sum += below > NEGLIGIBLE ? Math.exp(below) : 0;
    }
    return largest == NONE ? NONE : largest + Math.log(sum);
  }
}
