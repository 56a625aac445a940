package io.steelyard.stats;

import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/**
 * The measurements of one cell on their two levels: forks, and trials inside each fork.
 *
 * <p>Trials of one fork share a process, its memory layout and its compiled code, so they are not
 * independent; forks are. Hence all spread and every interval here starts from the fork means.
 *
 * <p>Forks may have different numbers of trials, at least one each. Values are finite; their unit
 * is the caller's. Immutable.
 */
public final class Sample {

  private final double[][] values;
  private final double[][] weights;
  private final double[] forkMeans;

  private Sample(double[][] values, double[][] weights) {
    this.values = values;
    this.weights = weights;
    this.forkMeans = new double[values.length];
    for (int fork = 0; fork < values.length; fork++) {
      double sum = 0;
      double total = 0;
      for (int trial = 0; trial < values[fork].length; trial++) {
        sum += weights[fork][trial] * values[fork][trial];
        total += weights[fork][trial];
      }
      forkMeans[fork] = sum / total;
    }
  }

  /**
   * A sample of plain values, such as times: a fork's mean is the mean of its trials.
   *
   * @param forks {@code forks[fork][trial]}
   */
  public static Sample of(double[][] forks) {
    double[][] values = copy(forks, "forks");
    double[][] weights = new double[values.length][];
    for (int fork = 0; fork < values.length; fork++) {
      Checks.finite(values[fork], "forks[" + fork + "]");
      weights[fork] = new double[values[fork].length];
      Arrays.fill(weights[fork], 1);
    }
    return new Sample(values, weights);
  }

  /** A sample with one value a fork: cold start, load time, memory. */
  public static Sample ofForks(double... perFork) {
    double[][] forks = new double[perFork.length][];
    for (int fork = 0; fork < perFork.length; fork++) {
      forks[fork] = new double[] {perFork[fork]};
    }
    return of(forks);
  }

  /**
   * A sample of rates such as tokens per second. A trial's value is its amount over its time; a
   * fork's mean is its total amount over its total time, which is the mean of its trials' rates
   * weighted by their times, not the plain mean that would favour the fast trials.
   *
   * @param amounts {@code amounts[fork][trial]}, such as tokens, not negative
   * @param times the time of each in the unit wanted below the line, above 0
   */
  public static Sample rates(double[][] amounts, double[][] times) {
    double[][] weights = copy(times, "times");
    double[][] values = copy(amounts, "amounts");
    if (values.length != weights.length) {
      throw new IllegalArgumentException(
          values.length + " forks of amounts but " + weights.length + " forks of times");
    }
    for (int fork = 0; fork < values.length; fork++) {
      if (values[fork].length != weights[fork].length) {
        throw new IllegalArgumentException(
            "fork %d has %d amounts but %d times"
                .formatted(fork, values[fork].length, weights[fork].length));
      }
      Checks.finite(values[fork], "amounts[" + fork + "]");
      Checks.positive(weights[fork], "times[" + fork + "]");
      for (int trial = 0; trial < values[fork].length; trial++) {
        if (values[fork][trial] < 0) {
          throw new IllegalArgumentException(
              "amounts[%d][%d] is %s; an amount is not negative"
                  .formatted(fork, trial, values[fork][trial]));
        }
        values[fork][trial] /= weights[fork][trial];
      }
    }
    return new Sample(values, weights);
  }

  /**
   * Some of the trials of some forks.
   *
   * @param kept {@code kept[fork][trial]}, at least one of each fork named
   * @param forks which forks, in this order
   */
  Sample keeping(boolean[][] kept, List<Integer> forks) {
    double[][] some = new double[forks.size()][];
    double[][] their = new double[forks.size()][];
    for (int i = 0; i < some.length; i++) {
      int fork = forks.get(i);
      int[] trials =
          IntStream.range(0, values[fork].length).filter(trial -> kept[fork][trial]).toArray();
      some[i] = Arrays.stream(trials).mapToDouble(trial -> values[fork][trial]).toArray();
      their[i] = Arrays.stream(trials).mapToDouble(trial -> weights[fork][trial]).toArray();
    }
    return new Sample(some, their);
  }

  private static double[][] copy(double[][] forks, String name) {
    if (forks.length == 0) {
      throw new IllegalArgumentException("a sample needs at least one fork");
    }
    double[][] copy = new double[forks.length][];
    for (int fork = 0; fork < forks.length; fork++) {
      if (forks[fork].length == 0) {
        throw new IllegalArgumentException(
            name + "[" + fork + "] is empty; a fork needs at least one trial");
      }
      copy[fork] = forks[fork].clone();
    }
    return copy;
  }

  /** Number of forks. */
  public int forks() {
    return values.length;
  }

  /** Number of trials of all forks together. */
  public int trials() {
    return Arrays.stream(values).mapToInt(fork -> fork.length).sum();
  }

  /** One mean a fork, in the order of the forks. */
  public double[] forkMeans() {
    return forkMeans.clone();
  }

  /** The trials of one fork. */
  public double[] fork(int fork) {
    return values[fork].clone();
  }

  /** All trials, fork after fork. */
  public double[] allTrials() {
    return Arrays.stream(values).flatMapToDouble(Arrays::stream).toArray();
  }

  /** Mean of the fork means. */
  public double mean() {
    return Moments.mean(forkMeans);
  }

  /** Median of all trials. */
  public double median() {
    return Quantiles.median(allTrials());
  }

  /** Standard deviation of the fork means (n − 1); 0 for a single fork, which shows no spread. */
  public double sd() {
    return forks() < 2 ? 0 : Moments.standardDeviation(forkMeans);
  }

  /** Smallest trial. */
  public double min() {
    return Arrays.stream(allTrials()).min().orElseThrow();
  }

  /** Largest trial. */
  public double max() {
    return Arrays.stream(allTrials()).max().orElseThrow();
  }

  /**
   * Standard deviation of the fork means over their mean: what another process changes. It holds a
   * share of the spread within forks too, that which averaging over the trials has left.
   */
  public double variationBetweenForks() {
    return relative(sd());
  }

  /**
   * Pooled standard deviation of the trials around their fork's plain mean, over the mean: what
   * another call in the same process changes. 0 where no fork has two trials.
   */
  public double variationWithinForks() {
    double squares = 0;
    int degrees = 0;
    for (double[] fork : values) {
      squares += Moments.squaredDeviations(fork);
      degrees += fork.length - 1;
    }
    return degrees == 0 ? 0 : relative(Math.sqrt(squares / degrees));
  }

  private double relative(double deviation) {
    return deviation == 0 ? 0 : deviation / Math.abs(mean());
  }

  /**
   * Standard deviation of the logarithms of the ratios of fork means, fork by fork: what the ratio
   * of a block scatters by.
   *
   * @param other as many forks as here, at least two
   */
  public double deviationOfRatios(Sample other) {
    return Moments.standardDeviation(logRatios(this, other));
  }

  /** Logarithms of the ratios of fork means, fork by fork; all values are above 0. */
  static double[] logRatios(Sample above, Sample below) {
    double[] logs = new double[above.forks()];
    for (int fork = 0; fork < logs.length; fork++) {
      logs[fork] = Math.log(above.forkMeans[fork] / below.forkMeans[fork]);
    }
    return logs;
  }

  /** Refuses a sample of which no ratio can be taken. */
  void requirePositive(String name) {
    for (int fork = 0; fork < values.length; fork++) {
      Checks.positive(values[fork], name + " fork " + fork);
    }
  }

  /** The mean of a fork whose trials are drawn with replacement from its own. */
  double resampledForkMean(int fork, RandomGenerator random) {
    double[] value = values[fork];
    int trials = value.length;
    if (trials == 1) {
      return value[0];
    }
    double[] weight = weights[fork];
    double sum = 0;
    double total = 0;
    for (int draw = 0; draw < trials; draw++) {
      int trial = random.nextInt(trials);
      sum += weight[trial] * value[trial];
      total += weight[trial];
    }
    return sum / total;
  }
}
