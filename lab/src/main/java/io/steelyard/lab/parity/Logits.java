package io.steelyard.lab.parity;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Rows of logits, as workers write them. */
final class Logits {
  static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private Logits() {}

  /** Turns logits into natural logarithms of probabilities, in place. */
  static void toLogProbabilities(double[] logits) {
    double max = Double.NEGATIVE_INFINITY;
    for (double logit : logits) {
      max = Math.max(max, logit);
    }
    double sum = 0;
    for (double logit : logits) {
      sum += Math.exp(logit - max);
    }
    double logSum = max + Math.log(sum);
    for (int i = 0; i < logits.length; i++) {
      logits[i] -= logSum;
    }
  }
}
