package io.steelyard.kernels.attention;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Finds the weights of a {@link BlockScorer} from attention that is seen. The model of a share is
 * log-linear, its likelihood Poisson's, which is convex and foresees means: Newton's method finds
 * the one best set of weights, with nothing drawn by chance.
 *
 * <p>Source: Nelder and Wedderburn, "Generalized Linear Models" (1972).
 */
public final class ScorerTraining {
  /** Of so many blocks of queries of a head one is looked at. */
  private static final int ONE_OF = 8;

  private static final int MOST_STEPS = 50;
  private static final int MOST_HALVINGS = 30;

  /** A step that changes the likelihood by a smaller share is the last. */
  private static final double ENOUGH = 1e-10;

  /** Keeps weights of features that say the same apart from infinity. */
  private static final double RIDGE = 1e-6;

  private static final List<Double> DENSITIES = List.of(0.25, 0.1);

  private static final int FEATURES = BlockFeatures.NAMES.size();

  /** Features and shares of one block of queries with all of its keys. */
  private record Row(float[] features, double[] shares) {}

  private final List<Row> rows = new ArrayList<>();
  private int heads;

  /** Adds the attention of all heads, by blocks of some size. */
  public void add(AttentionInputs inputs, int block) {
    AttentionShape shape = inputs.shape();
    for (int batch = 0; batch < shape.batch(); batch++) {
      for (int head = 0; head < shape.heads(); head++) {
        BlockFeatures features = new BlockFeatures(inputs, block, batch, head);
        // Another part of the blocks in every head.
        for (int i = heads++ * 3 % ONE_OF; i < features.blocks(); i += ONE_OF) {
          float[] row = new float[features.visible(i) * FEATURES];
          features.row(i, row);
          rows.add(new Row(row, features.masses(i)));
        }
      }
    }
  }

  /** Pairs of blocks that were added. */
  public long pairs() {
    return rows.stream().mapToLong(row -> row.shares().length).sum();
  }

  /**
   * What the weights are found to be.
   *
   * @param scorer with the weights
   * @param shares which keep a quarter and a tenth of all blocks that were added
   * @param explained of what a constant share leaves of the likelihood, how much the weights
   *     explain
   */
  public record Result(BlockScorer scorer, List<Share> shares, double explained) {}

  /** What a {@code share} keeps. */
  public record Share(double density, double share) {}

  /**
   * Finds the weights.
   *
   * @throws IllegalStateException if nothing was added
   */
  public Result fit() {
    if (rows.isEmpty()) {
      throw new IllegalStateException("no attention was added that weights could be found from");
    }
    double[] weights = new double[FEATURES];
    weights[0] = Math.log(rows.stream().mapToDouble(ScorerTraining::sum).sum() / pairs());
    double constant = loss(weights);
    double loss = constant;
    for (int step = 0; step < MOST_STEPS; step++) {
      double[] direction = direction(weights);
      double before = loss;
      double[] next = weights;
      double length = 1;
      for (int i = 0; i < MOST_HALVINGS; i++, length /= 2) {
        next = moved(weights, direction, length);
        loss = loss(next);
        if (loss <= before) {
          break;
        }
      }
      weights = next;
      if (!(before - loss > ENOUGH * Math.abs(before))) {
        break;
      }
    }
    double best = rows.stream().mapToDouble(ScorerTraining::saturated).sum();
    return new Result(
        new BlockScorer("trained", weights),
        shares(weights),
        (constant - loss) / (constant - best));
  }

  private List<Share> shares(double[] weights) {
    double[] foreseen =
        rows.parallelStream()
            .flatMapToDouble(
                row ->
                    IntStream.range(0, row.shares().length)
                        .mapToDouble(j -> foreseen(weights, row.features(), j * FEATURES)))
            .sorted()
            .toArray();
    return DENSITIES.stream()
        .map(
            density ->
                new Share(
                    density, Math.exp(foreseen[(int) ((1 - density) * (foreseen.length - 1))])))
        .toList();
  }

  private static double sum(Row row) {
    double sum = 0;
    for (double share : row.shares()) {
      sum += share;
    }
    return sum;
  }

  /** The loss of shares foreseen as they are. */
  private static double saturated(Row row) {
    double loss = 0;
    for (double share : row.shares()) {
      loss += share == 0 ? 0 : share - share * Math.log(share);
    }
    return loss;
  }

  private static double[] moved(double[] from, double[] direction, double length) {
    double[] to = from.clone();
    for (int i = 0; i < to.length; i++) {
      to[i] += length * direction[i];
    }
    return to;
  }

  private static double foreseen(double[] weights, float[] features, int at) {
    double sum = 0;
    for (int i = 0; i < FEATURES; i++) {
      sum += weights[i] * features[at + i];
    }
    return sum;
  }

  /** The negative logarithm of the likelihood, without what no weight changes. */
  private double loss(double[] weights) {
    return rows.parallelStream()
        .mapToDouble(
            row -> {
              double loss = 0;
              for (int j = 0; j < row.shares().length; j++) {
                double log = foreseen(weights, row.features(), j * FEATURES);
                loss += Math.exp(log) - row.shares()[j] * log;
              }
              return loss;
            })
        .sum();
  }

  /** Newton's step: the negative gradient, divided by the curvature. */
  private double[] direction(double[] weights) {
    double[][] curvature = new double[FEATURES][FEATURES + 1];
    for (Row row : rows) {
      for (int j = 0; j < row.shares().length; j++) {
        int at = j * FEATURES;
        double mean = Math.exp(foreseen(weights, row.features(), at));
        for (int a = 0; a < FEATURES; a++) {
          double feature = row.features()[at + a];
          curvature[a][FEATURES] += (row.shares()[j] - mean) * feature;
          for (int b = 0; b <= a; b++) {
            curvature[a][b] += mean * feature * row.features()[at + b];
          }
        }
      }
    }
    for (int a = 0; a < FEATURES; a++) {
      curvature[a][a] += RIDGE * (1 + curvature[a][a]);
      for (int b = 0; b < a; b++) {
        curvature[b][a] = curvature[a][b];
      }
    }
    return solved(curvature);
  }

  /** Solves equations of a positive definite matrix, whose last column is the right-hand side. */
  private static double[] solved(double[][] of) {
    for (int pivot = 0; pivot < FEATURES; pivot++) {
      for (int row = pivot + 1; row < FEATURES; row++) {
        double factor = of[row][pivot] / of[pivot][pivot];
        for (int column = pivot; column <= FEATURES; column++) {
          of[row][column] -= factor * of[pivot][column];
        }
      }
    }
    double[] solution = new double[FEATURES];
    for (int row = FEATURES - 1; row >= 0; row--) {
      double rest = of[row][FEATURES];
      for (int column = row + 1; column < FEATURES; column++) {
        rest -= of[row][column] * solution[column];
      }
      solution[row] = rest / of[row][row];
    }
    return solution;
  }
}
