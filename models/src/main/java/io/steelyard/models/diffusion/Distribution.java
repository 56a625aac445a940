package io.steelyard.models.diffusion;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.SplittableRandom;

/** A position's distribution over tokens, after temperature, top-p and top-k. */
final class Distribution {
  /** Keeps the logarithm of a probability of 0 finite. */
  private static final double LEAST = 1e-10;

  private final double[] probabilities;
  private final double[] sorted;

  /**
   * Memory for distributions.
   *
   * @param vocabulary number of tokens
   */
  Distribution(int vocabulary) {
    probabilities = new double[vocabulary];
    sorted = new double[vocabulary];
  }

  /** Takes a position's logits: float32 values, one a token. */
  void set(MemorySegment logits, Diffusion diffusion) {
    double largest = Double.NEGATIVE_INFINITY;
    for (int id = 0; id < probabilities.length; id++) {
      probabilities[id] = logits.getAtIndex(ValueLayout.JAVA_FLOAT, id);
      largest = Math.max(largest, probabilities[id]);
    }
    double temperature = diffusion.temperature() == 0 ? 1 : diffusion.temperature();
    for (int id = 0; id < probabilities.length; id++) {
      probabilities[id] = Math.exp((probabilities[id] - largest) / temperature);
    }
    normalise();
    if (diffusion.topP() < 1) {
      cut(leastOfTopP(diffusion.topP()));
    }
    if (diffusion.topK() > 0 && diffusion.topK() < probabilities.length) {
      sort();
      cut(sorted[sorted.length - diffusion.topK()]);
    }
  }

  private void sort() {
    System.arraycopy(probabilities, 0, sorted, 0, sorted.length);
    Arrays.sort(sorted);
  }

  /** The smallest probability that is kept: that of the token which crosses the bound. */
  private double leastOfTopP(double bound) {
    sort();
    double sum = 0;
    int i = sorted.length;
    while (i > 1 && sum <= bound) {
      sum += sorted[--i];
    }
    return sorted[i];
  }

  private void cut(double least) {
    for (int id = 0; id < probabilities.length; id++) {
      if (probabilities[id] < least) {
        probabilities[id] = 0;
      }
    }
    normalise();
  }

  private void normalise() {
    double total = 0;
    for (double probability : probabilities) {
      total += probability;
    }
    for (int id = 0; id < probabilities.length; id++) {
      probabilities[id] /= total;
    }
  }

  /**
   * The most likely token (ties: lowest id), or one drawn at random where there is a temperature.
   */
  int choose(Diffusion diffusion, SplittableRandom random) {
    if (diffusion.temperature() > 0) {
      return Draw.one(probabilities, random);
    }
    int best = 0;
    for (int id = 1; id < probabilities.length; id++) {
      if (probabilities[id] > probabilities[best]) {
        best = id;
      }
    }
    return best;
  }

  /** How sure one may be of a token. */
  double confidence(int id, Diffusion.Algorithm algorithm) {
    return switch (algorithm) {
      case ORIGIN, MASKGIT_PLUS -> probabilities[id];
      case TOPK_MARGIN -> margin();
      case ENTROPY -> {
        double sum = 0;
        for (double probability : probabilities) {
          sum += probability * Math.log(probability + LEAST);
        }
        yield sum;
      }
    };
  }

  private double margin() {
    double first = 0;
    double second = 0;
    for (double probability : probabilities) {
      if (probability > first) {
        second = first;
        first = probability;
      } else if (probability > second) {
        second = probability;
      }
    }
    return first - second;
  }
}
