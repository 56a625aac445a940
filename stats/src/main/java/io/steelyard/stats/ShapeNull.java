package io.steelyard.stats;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import java.util.stream.DoubleStream;

/**
 * How far {@link ShapeFigures} go by chance in normal values of a layout, simulated with a fixed
 * seed: no table would hold all layouts of forks and trials. The shares of normal data beyond the
 * bounds add up to less than a tenth.
 */
final class ShapeNull {

  /** Shares of normal samples beyond each bound. */
  private record Shares(double twoGroups, double tails, double skew) {}

  // Forks get the larger part, for they are few, and the interval stands on them; tails get more
  // than groups and skew, for they are the hardest to see.
  private static final Shares FORKS = new Shares(0.01, 0.035, 0.005);
  private static final Shares TRIALS = new Shares(0.003, 0.03, 0.002);

  private static final int MOST_ROUNDS = 8000;
  private static final int LEAST_ROUNDS = 1000;

  /** Values drawn for a layout, so that large ones stay affordable. */
  private static final int DRAWS = 400_000;

  private static final long SEED = 1969;

  private static final Map<String, ShapeFigures> KNOWN = new ConcurrentHashMap<>();

  private ShapeNull() {}

  /** Bounds for the means of so many forks. */
  static ShapeFigures ofForks(int forks) {
    return KNOWN.computeIfAbsent(
        "forks " + forks,
        _ -> simulate(new double[1][forks], layout -> ShapeFigures.ofForks(layout[0]), FORKS));
  }

  /** Bounds for the trials of forks with so many each, at least two. */
  static ShapeFigures ofTrials(int[] trials) {
    int[] sorted = trials.clone();
    Arrays.sort(sorted);
    return KNOWN.computeIfAbsent(
        "trials " + Arrays.toString(sorted),
        _ ->
            simulate(
                Arrays.stream(sorted).mapToObj(double[]::new).toArray(double[][]::new),
                ShapeFigures::ofTrials,
                TRIALS));
  }

  private static ShapeFigures simulate(
      double[][] layout, Function<double[][], ShapeFigures> figures, Shares shares) {
    int size = Arrays.stream(layout).mapToInt(fork -> fork.length).sum();
    int rounds = Math.clamp(DRAWS / size, LEAST_ROUNDS, MOST_ROUNDS);
    RandomGenerator random = Seeds.generator(SEED);
    ShapeFigures[] reached = new ShapeFigures[rounds];
    for (int round = 0; round < rounds; round++) {
      for (double[] fork : layout) {
        Arrays.setAll(fork, _ -> random.nextGaussian());
      }
      reached[round] = figures.apply(layout);
    }
    return new ShapeFigures(
        bound(Arrays.stream(reached).mapToDouble(ShapeFigures::twoGroups), shares.twoGroups),
        bound(Arrays.stream(reached).mapToDouble(ShapeFigures::tails), shares.tails),
        bound(Arrays.stream(reached).mapToDouble(ShapeFigures::skew), shares.skew));
  }

  private static double bound(DoubleStream figures, double share) {
    return Quantiles.of(figures.toArray(), 1 - share);
  }
}
