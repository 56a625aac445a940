package io.steelyard.stats;

import java.util.Arrays;

/**
 * Figures that tell two groups, skew and heavy tails from normal values of any mean and spread.
 *
 * @param twoGroups see {@link #twoGroups(double[])}
 * @param tails see {@link #tails(double[][])}
 * @param skew absolute value of the third standardised moment
 */
record ShapeFigures(double twoGroups, double tails, double skew) {

  /** Fewest values of a group: one alone is a far value. */
  private static final int SMALLEST_GROUP = 2;

  /** Steps of the search for the likeliest t: enough for three digits of the ratio. */
  private static final int STEPS = 30;

  /** Of fork means that are not all equal. */
  static ShapeFigures ofForks(double[] means) {
    double[] sorted = means.clone();
    Arrays.sort(sorted);
    return new ShapeFigures(twoGroups(sorted), tails(sorted), Math.abs(skew(sorted)));
  }

  /** Of the trials of forks with at least two trials each, each fork's mean or location aside. */
  static ShapeFigures ofTrials(double[][] forks) {
    double[] sorted = residuals(forks);
    Arrays.sort(sorted);
    return new ShapeFigures(twoGroups(sorted), tails(forks), Math.abs(skew(sorted)));
  }

  /** What the first figure beyond its bound says, in order of how much it explains. */
  Shape.Kind beyond(ShapeFigures bounds) {
    if (twoGroups > bounds.twoGroups) {
      return Shape.Kind.BIMODAL;
    }
    if (skew > bounds.skew) {
      return Shape.Kind.SKEWED;
    }
    return tails > bounds.tails ? Shape.Kind.HEAVY_TAILED : Shape.Kind.UNREMARKABLE;
  }

  /**
   * What is left of the trials without their forks' means, scaled to what it was before: a mean of
   * three takes a third of the variance with it.
   */
  private static double[] residuals(double[][] forks) {
    return Arrays.stream(forks)
        .flatMapToDouble(
            fork -> {
              double mean = Moments.mean(fork);
              double scale = Math.sqrt(fork.length / (fork.length - 1.0));
              return Arrays.stream(fork).map(trial -> scale * (trial - mean));
            })
        .toArray();
  }

  /**
   * The largest ratio of squares between two parts to squares within them, over all cuts of the
   * sorted values; infinite where both parts have no spread.
   */
  static double twoGroups(double[] sorted) {
    int n = sorted.length;
    double mean = Moments.mean(sorted);
    double total = Moments.squaredDeviations(sorted);
    double sum = 0;
    double largest = 0;
    for (int cut = 1; cut <= n - SMALLEST_GROUP; cut++) {
      sum += sorted[cut - 1] - mean;
      if (cut >= SMALLEST_GROUP) {
        double between = sum * sum * n / ((double) cut * (n - cut));
        largest = Math.max(largest, between / Math.max(0, total - between));
      }
    }
    return largest;
  }

  /** Third standardised moment: above 0 where the long tail is on the right. */
  static double skew(double[] values) {
    double mean = Moments.mean(values);
    double cubes = 0;
    for (double value : values) {
      double deviation = value - mean;
      cubes += deviation * deviation * deviation;
    }
    double variance = Moments.squaredDeviations(values) / values.length;
    return cubes / values.length / (variance * Math.sqrt(variance));
  }

  /**
   * Logarithm, per value, of the largest likelihood under Student's t with two degrees of freedom
   * over that under a normal; each group has its own location, all have one scale. The former is
   * climbed by expectation and maximisation from the medians (Lange, Little and Taylor, "Robust
   * statistical modeling using the t distribution", JASA 84 (1989)): a value z scales away has
   * weight 3/(2 + z²).
   *
   * @param groups not all equal to their group's mean, and more values than groups
   */
  static double tails(double[]... groups) {
    int n = 0;
    double squaredDeviations = 0;
    for (double[] group : groups) {
      n += group.length;
      squaredDeviations += Moments.squaredDeviations(group);
    }
    // Both scales over the degrees of freedom: with locations of their own, few values a group look
    // closer together than they are.
    double variance = squaredDeviations / (n - groups.length);
    double[] locations = Arrays.stream(groups).mapToDouble(Quantiles::median).toArray();
    double squaredScale = variance / 2;
    for (int step = 0; step < STEPS; step++) {
      double squares = 0;
      for (int g = 0; g < groups.length; g++) {
        double weights = 0;
        double sum = 0;
        for (double value : groups[g]) {
          double deviation = value - locations[g];
          double weight = 3 / (2 + deviation * deviation / squaredScale);
          weights += weight;
          sum += weight * deviation;
          squares += weight * deviation * deviation;
        }
        // Σw(x − m)² around the location to which it moves.
        double move = sum / weights;
        squares -= sum * move;
        locations[g] += move;
      }
      squaredScale = squares / (n - groups.length);
      if (!(squaredScale > 1e-12 * variance)) {
        // More than half of the values are equal: no normal value ever repeats.
        return Double.POSITIVE_INFINITY;
      }
    }
    double logs = 0;
    for (int g = 0; g < groups.length; g++) {
      for (double value : groups[g]) {
        double deviation = value - locations[g];
        logs += Math.log(2 + deviation * deviation / squaredScale);
      }
    }
    double share = (n - groups.length) / (double) n;
    double student = -Math.log(squaredScale) / 2 - 1.5 * logs / n;
    double normal = -(Math.log(2 * Math.PI * variance) + share) / 2;
    return student - normal;
  }
}
