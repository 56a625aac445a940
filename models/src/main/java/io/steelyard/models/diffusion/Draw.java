package io.steelyard.models.diffusion;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Draws at random. */
final class Draw {
  private Draw() {}

  /** An index, each as likely as its weight says; all are 0 or more, and one is above. */
  static int one(double[] weights, SplittableRandom random) {
    double total = 0;
    for (double weight : weights) {
      total += weight;
    }
    double left = random.nextDouble() * total;
    int last = 0;
    for (int i = 0; i < weights.length; i++) {
      if (weights[i] > 0) {
        left -= weights[i];
        last = i;
        if (left < 0) {
          return i;
        }
      }
    }
    return last;
  }

  /**
   * Some of the candidates, none twice.
   *
   * @param temperature the chance of each is the softmax of confidence over this
   */
  static List<Candidate> some(
      List<Candidate> candidates, int count, double temperature, SplittableRandom random) {
    double largest =
        candidates.stream().mapToDouble(Candidate::confidence).max().orElse(Double.NaN);
    double[] weights =
        candidates.stream()
            .mapToDouble(c -> Math.exp((c.confidence() - largest) / temperature))
            .toArray();
    List<Candidate> drawn = new ArrayList<>();
    while (drawn.size() < count) {
      int next = one(weights, random);
      if (weights[next] == 0) {
        // All that could be drawn is: the rest is too unlikely to have a weight.
        for (int i = 0; i < weights.length; i++) {
          weights[i] = drawn.contains(candidates.get(i)) ? 0 : 1;
        }
        continue;
      }
      weights[next] = 0;
      drawn.add(candidates.get(next));
    }
    return drawn;
  }
}
