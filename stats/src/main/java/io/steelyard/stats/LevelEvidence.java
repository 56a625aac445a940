package io.steelyard.stats;

import java.util.stream.IntStream;

/**
 * How likely stretches of a sequence are, whatever their levels: normal noise of known variances
 * around levels that are normal themselves, integrated over all levels. Logarithms, without a
 * constant that all ways to explain the same values share.
 */
final class LevelEvidence {
  private final double[] deviations;
  private final double[] weights;
  private final double levelVariance;
  private final double[] weightSums;
  private final double[] valueSums;

  /**
   * Evidence for a sequence.
   *
   * @param values in order of time
   * @param weights the inverse of each value's noise variance, above 0
   * @param levelVariance variance of the levels around the weighted mean of all values, above 0
   */
  LevelEvidence(double[] values, double[] weights, double levelVariance) {
    int n = values.length;
    double total = 0;
    double sum = 0;
    for (int i = 0; i < n; i++) {
      total += weights[i];
      sum += weights[i] * values[i];
    }
    double centre = sum / total;
    this.deviations = IntStream.range(0, n).mapToDouble(i -> values[i] - centre).toArray();
    this.weights = weights.clone();
    this.levelVariance = levelVariance;
    weightSums = new double[n + 1];
    valueSums = new double[n + 1];
    for (int i = 0; i < n; i++) {
      weightSums[i + 1] = weightSums[i] + weights[i];
      valueSums[i + 1] = valueSums[i] + weights[i] * deviations[i];
    }
  }

  int length() {
    return deviations.length;
  }

  /** Of one level from a value to before another, in O(1). */
  double level(int from, int to) {
    double shrinkage = 1 + levelVariance * (weightSums[to] - weightSums[from]);
    double sum = valueSums[to] - valueSums[from];
    return levelVariance * sum * sum / (2 * shrinkage) - Math.log(shrinkage) / 2;
  }

  /**
   * Of a stretch with one level, a straight line to another, and that level.
   *
   * @param from first value of the stretch
   * @param to after its last value
   * @param first first value on the line
   * @param last after the last value on the line
   */
  double ramp(int from, int to, int first, int last) {
    double belowBelow = 0;
    double belowAbove = 0;
    double aboveAbove = 0;
    double below = 0;
    double above = 0;
    for (int i = from; i < to; i++) {
      double up = Math.clamp((i - first + 0.5) / (last - first), 0.0, 1.0);
      belowBelow += weights[i] * (1 - up) * (1 - up);
      belowAbove += weights[i] * (1 - up) * up;
      aboveAbove += weights[i] * up * up;
      below += weights[i] * (1 - up) * deviations[i];
      above += weights[i] * up * deviations[i];
    }
    // The two levels are the weights of a regression with independent normal priors.
    double a = 1 + levelVariance * belowBelow;
    double b = levelVariance * belowAbove;
    double d = 1 + levelVariance * aboveAbove;
    double determinant = a * d - b * b;
    double fitted = (d * below * below - 2 * b * below * above + a * above * above) / determinant;
    return levelVariance * fitted / 2 - Math.log(determinant) / 2;
  }
}
