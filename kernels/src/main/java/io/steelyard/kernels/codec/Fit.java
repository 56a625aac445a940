package io.steelyard.kernels.codec;

import java.util.Arrays;

/**
 * Least-squares fits of evenly spaced levels to values: which scale, and which minimum, leave the
 * smallest weighted squared error when each value takes its nearest level. A few roundings around
 * the one that meets the extremes are tried; each is followed by the best scale for its levels.
 */
final class Fit {
  private static final int TRIALS = 24;
  private static final int ROUNDS = 4;

  /** How far the scales that are tried reach: this many levels more or fewer at the extremes. */
  private static final float REACH = 1.2f;

  private Fit() {}

  /** A scale, and what is subtracted from its multiples. */
  record Line(float scale, float minimum) {}

  /** The nearest whole number in a range. */
  static int level(float value, int lowest, int highest) {
    return Math.clamp(Math.round(value), lowest, highest);
  }

  /**
   * How much the squared errors of values count.
   *
   * @param each at index {@code at} the first value's
   */
  record Weights(float[] each, int at) {
    private static final float[] ONES = new float[256];

    static {
      Arrays.fill(ONES, 1);
    }

    /** All alike, for up to 256 values. */
    static final Weights EQUAL = new Weights(ONES, 0);

    /** Those of later values. */
    Weights from(int offset) {
      return new Weights(each, at + offset);
    }
  }

  /**
   * The scale of signed levels.
   *
   * @param lowest level, negative and of the largest magnitude
   */
  static float scale(
      float[] values, int from, int count, int lowest, int highest, Weights weights) {
    float[] weight = weights.each();
    int w = weights.at() - from;
    float extreme = extreme(values, from, count);
    double best = 0;
    double scale = 0;
    for (int trial = -TRIALS; extreme != 0 && trial <= TRIALS; trial++) {
      float inverse = (lowest - REACH * trial / TRIALS) / extreme;
      double products = 0;
      double squares = 0;
      for (int i = from; i < from + count; i++) {
        int level = level(values[i] * inverse, lowest, highest);
        products += (double) weight[w + i] * values[i] * level;
        squares += (double) weight[w + i] * level * level;
      }
      // The best scale of these levels leaves all but this of the values' squares.
      if (squares > 0 && products * products > best * squares) {
        best = products * products / squares;
        scale = products / squares;
      }
    }
    return (float) scale;
  }

  /** The value of largest magnitude. */
  static float extreme(float[] values, int from, int count) {
    float extreme = 0;
    for (int i = from; i < from + count; i++) {
      extreme = Math.abs(values[i]) > Math.abs(extreme) ? values[i] : extreme;
    }
    return extreme;
  }

  /**
   * The scale of levels from 0 on, and what is subtracted from their multiples, which is never
   * negative.
   */
  static Line line(float[] values, int from, int count, int highest, Weights weights) {
    float least = 0;
    float most = 0;
    for (int i = from; i < from + count; i++) {
      least = Math.min(least, values[i]);
      most = Math.max(most, values[i]);
    }
    Line best = new Line(0, -least);
    double bestError = Double.MAX_VALUE;
    for (int trial = -TRIALS; most > least && trial <= TRIALS; trial++) {
      float inverse = (highest + REACH * trial / TRIALS) / (most - least);
      Line line = line(values, from, count, highest, inverse, least, weights);
      double error = error(values, from, count, highest, line, weights);
      if (error < bestError) {
        bestError = error;
        best = line;
      }
    }
    // The levels nearest with this line may have a better one, and so on.
    for (int round = 0; round < ROUNDS && best.scale() > 0; round++) {
      float inverse = 1 / best.scale();
      Line line = line(values, from, count, highest, inverse, -best.minimum(), weights);
      double error = error(values, from, count, highest, line, weights);
      if (!(error < bestError)) {
        break;
      }
      bestError = error;
      best = line;
    }
    return best;
  }

  private static Line line(
      float[] values,
      int from,
      int count,
      int highest,
      float inverse,
      float least,
      Weights weights) {
    float[] weight = weights.each();
    int at = weights.at() - from;
    double all = 0;
    double sum = 0;
    double levels = 0;
    double products = 0;
    double squares = 0;
    for (int i = from; i < from + count; i++) {
      int level = level((values[i] - least) * inverse, 0, highest);
      double w = weight[at + i];
      all += w;
      sum += w * values[i];
      levels += w * level;
      products += w * values[i] * level;
      squares += w * level * level;
    }
    double determinant = all * squares - levels * levels;
    double scale = determinant > 0 ? (all * products - levels * sum) / determinant : 0;
    double minimum = (scale * levels - sum) / all;
    if (minimum < 0) {
      minimum = 0;
      scale = squares > 0 ? products / squares : 0;
    }
    return new Line((float) scale, (float) minimum);
  }

  /** The weighted squared error that a line leaves. */
  static double error(
      float[] values, int from, int count, int highest, Line line, Weights weights) {
    float[] weight = weights.each();
    int at = weights.at() - from;
    float inverse = line.scale() == 0 ? 0 : 1 / line.scale();
    double error = 0;
    for (int i = from; i < from + count; i++) {
      int level = level((values[i] + line.minimum()) * inverse, 0, highest);
      double off = values[i] - (line.scale() * level - line.minimum());
      error += weight[at + i] * off * off;
    }
    return error;
  }
}
