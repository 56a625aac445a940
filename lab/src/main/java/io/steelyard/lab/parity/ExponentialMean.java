package io.steelyard.lab.parity;

/**
 * The exponential of a mean, with its standard error by the delta method: {@code exp(m) · s / √n},
 * where s is the standard deviation (n − 1) of the values. Of negative log-likelihoods it is a
 * perplexity; of two models' differences of them, the ratio of their perplexities.
 */
final class ExponentialMean {
  private long count;
  private double sum;

  /** Mean and sum of squared deviations, kept up value by value (Welford 1962). */
  private double mean;

  private double squares;

  void add(double value) {
    count++;
    sum += value;
    double deviation = value - mean;
    mean += deviation / count;
    squares += deviation * (value - mean);
  }

  long count() {
    return count;
  }

  /** Infinite where one value is. */
  double value() {
    return Math.exp(sum / count);
  }

  /** Not a number of fewer than two values. */
  double error() {
    return value() * Math.sqrt(squares / (count - 1) / count);
  }
}
