package io.steelyard.kernels.attention;

import io.steelyard.kernels.DataType;
import java.lang.foreign.ValueLayout;
import java.util.stream.IntStream;

/**
 * How far two ways to compute the same are apart, over every value.
 *
 * @param largest difference of a value
 * @param relative Frobenius norm of the difference, by that of the first
 * @param largestLogSum difference of a row's logarithm of its sum, as a share of it where it is
 *     over 1
 */
public record OutputDifference(double largest, double relative, double largestLogSum) {
  /**
   * Compares.
   *
   * @throws IllegalArgumentException if the shapes or types differ
   */
  public static OutputDifference of(AttentionOutputs one, AttentionOutputs other) {
    if (!one.shape().equals(other.shape()) || one.type() != other.type()) {
      throw new IllegalArgumentException("results of two shapes can't be compared");
    }
    AttentionShape shape = one.shape();
    int width = shape.heads() * shape.dimension();
    double[][] rows =
        IntStream.range(0, shape.batch() * shape.length())
            .parallel()
            .mapToObj(row -> row(one, other, (long) row * width, width))
            .toArray(double[][]::new);
    double largest = 0;
    double errors = 0;
    double squares = 0;
    for (double[] row : rows) {
      largest = worse(largest, row[0]);
      errors += row[1];
      squares += row[2];
    }
    double logSum = 0;
    for (long row = 0; row < (long) shape.batch() * shape.heads() * shape.length(); row++) {
      double a = one.logSums().getAtIndex(ValueLayout.JAVA_FLOAT, row);
      double b = other.logSums().getAtIndex(ValueLayout.JAVA_FLOAT, row);
      logSum = worse(logSum, a == b ? 0 : Math.abs(a - b) / Math.max(1, Math.abs(a)));
    }
    return new OutputDifference(
        largest, squares == 0 ? Math.sqrt(errors) : Math.sqrt(errors / squares), logSum);
  }

  /** The largest difference, the squares of all differences and those of the first's values. */
  private static double[] row(AttentionOutputs one, AttentionOutputs other, long from, int width) {
    double largest = 0;
    double errors = 0;
    double squares = 0;
    for (long at = from; at < from + width; at++) {
      double a = Oracle.value(one.out(), one.type(), at);
      double difference = Oracle.value(other.out(), other.type(), at) - a;
      largest = worse(largest, Math.abs(difference));
      errors += difference * difference;
      squares += a * a;
    }
    return new double[] {largest, errors, squares};
  }

  /** A NaN is worse than any number. */
  private static double worse(double a, double b) {
    return Double.isNaN(b) ? Double.POSITIVE_INFINITY : Math.max(a, b);
  }

  /** Whether it is rounding, as {@link Oracle.Deviation#isRounding}. */
  public boolean isRounding(DataType type) {
    return new Oracle.Deviation(largest, relative, largestLogSum, 0, 1).isRounding(type);
  }
}
