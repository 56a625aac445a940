package io.steelyard.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class StepPosteriorTest {
  private static final int LEAST = 3;

  private static double[] noise(int length, long seed) {
    RandomGenerator random = Seeds.generator(seed);
    double[] values = new double[length];
    for (int i = 0; i < length; i++) {
      values[i] = random.nextGaussian();
    }
    return values;
  }

  private static double[] ones(int length) {
    double[] weights = new double[length];
    Arrays.fill(weights, 1);
    return weights;
  }

  /** The sum over all ways to cut the values, each written as a set of bits. */
  private static double[] chancesByCounting(LevelEvidence evidence) {
    int n = evidence.length();
    double[] chances = new double[n];
    double all = 0;
    for (int cuts = 0; cuts < 1 << (n - 1); cuts++) {
      double weight = 1;
      int from = 0;
      boolean longEnough = true;
      for (int i = 1; i <= n; i++) {
        if (i == n || (cuts >> (i - 1) & 1) == 1) {
          longEnough &= i - from >= LEAST;
          weight *= Math.exp(evidence.level(from, i)) * (i < n ? StepPosterior.RATE : 1);
          from = i;
        }
      }
      if (longEnough) {
        all += weight;
        for (int i = 1; i < n; i++) {
          chances[i] += (cuts >> (i - 1) & 1) == 1 ? weight : 0;
        }
      }
    }
    double total = all;
    return Arrays.stream(chances).map(chance -> chance / total).toArray();
  }

  @Test
  void chancesAreThoseOfAllWaysToCut() {
    for (long seed = 0; seed < 20; seed++) {
      double[] values = noise(13, seed);
      for (int i = 6; i < 13; i++) {
        values[i] += seed / 5.0;
      }
      LevelEvidence evidence = new LevelEvidence(values, ones(13), 4);

      double[] chances = new StepPosterior(evidence, LEAST).chances();

      double[] counted = chancesByCounting(evidence);
      for (int i = 0; i < 13; i++) {
        // Sums of 4096 rounded terms.
        assertThat(chances[i]).as("seed %d, value %d", seed, i).isCloseTo(counted[i], within(1e-9));
      }
    }
  }

  @Test
  void stepsHaveTheEvidenceOfAllWaysWithOneOrMore() {
    double[] values = noise(12, 3);
    LevelEvidence evidence = new LevelEvidence(values, ones(12), 4);
    StepPosterior posterior = new StepPosterior(evidence, 5);

    // With five values a level, twelve have room for one cut.
    double sum = 0;
    for (int cut = 5; cut <= 7; cut++) {
      sum += Math.exp(evidence.level(0, cut) + evidence.level(cut, 12));
    }

    assertThat(posterior.steps(0, 12)).isCloseTo(Math.log(StepPosterior.RATE * sum), within(1e-9));
  }

  /** Over levels in steps of a hundredth; both are normal, so that the sum is as good as exact. */
  @Test
  void levelsAndRampsHaveTheEvidenceOfTheirIntegrals() {
    double[] values = {0.3, -1.2, 0.8, 2.1, 1.7};
    double[] weights = {1, 0.5, 2, 1, 1.5};
    double variance = 3;
    LevelEvidence evidence = new LevelEvidence(values, weights, variance);
    double total = Arrays.stream(weights).sum();
    double centre = 0;
    for (int i = 0; i < 5; i++) {
      centre += weights[i] * values[i] / total;
    }
    double step = 0.05;
    double level = 0;
    double ramp = 0;
    for (double a = -15; a < 15; a += step) {
      double prior = Math.exp(-a * a / (2 * variance)) / Math.sqrt(2 * Math.PI * variance);
      double one = 0;
      for (int i = 1; i < 4; i++) {
        one += weights[i] * (a * (values[i] - centre) - a * a / 2);
      }
      level += step * prior * Math.exp(one);
      for (double b = -15; b < 15; b += step) {
        double both = 0;
        for (int i = 0; i < 5; i++) {
          double up = Math.clamp((i - 1 + 0.5) / 3, 0.0, 1.0);
          double line = a * (1 - up) + b * up;
          both += weights[i] * (line * (values[i] - centre) - line * line / 2);
        }
        ramp +=
            step
                * step
                * prior
                * Math.exp(both - b * b / (2 * variance))
                / Math.sqrt(2 * Math.PI * variance);
      }
    }

    assertThat(evidence.level(1, 4)).isCloseTo(Math.log(level), within(1e-6));
    assertThat(evidence.ramp(0, 5, 1, 4)).isCloseTo(Math.log(ramp), within(1e-6));
  }

  @Test
  void aClearStepIsPlacedExactlyAndNoiseHasNone() {
    for (long seed = 0; seed < 10; seed++) {
      double[] values = noise(60, seed);

      assertThat(StepPosterior.of(values, ones(60), 5).places()).as("seed %d", seed).isEmpty();

      for (int i = 40; i < 60; i++) {
        values[i] += 30;
      }
      assertThat(StepPosterior.of(values, ones(60), 5).places())
          .as("seed %d", seed)
          .containsExactly(40);
    }
  }

  @Test
  void surerValuesDecideWhereTheStepIs() {
    double[] values = noise(40, 5);
    double[] weights = ones(40);
    for (int i = 0; i < 40; i++) {
      values[i] = 0.01 * values[i] + (i < 20 ? 0 : 3);
    }
    // A value that may be anything says nothing against a step two values earlier.
    values[18] = 3;
    values[19] = 3;
    weights[18] = 1e-6;
    weights[19] = 1e-6;

    double[] chances = new StepPosterior(new LevelEvidence(values, weights, 4), 5).chances();

    assertThat(chances[18]).isCloseTo(chances[20], within(0.01));
  }

  @Test
  void aLineIsMoreLikelyADriftAndAStepMoreLikelyAStep() {
    double[] line = noise(80, 6);
    double[] step = line.clone();
    for (int i = 0; i < 80; i++) {
      line[i] += i / 8.0;
      step[i] += i < 40 ? 0 : 10;
    }
    StepPosterior ofLine = StepPosterior.of(line, ones(80), 5);
    StepPosterior ofStep = StepPosterior.of(step, ones(80), 5);

    assertThat(ofLine.drift(0, 80, 10)).isGreaterThan(ofLine.steps(0, 80));
    assertThat(ofStep.drift(0, 80, 10)).isLessThan(ofStep.steps(0, 80));
  }
}
