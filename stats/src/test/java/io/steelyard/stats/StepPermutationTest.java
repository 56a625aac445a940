package io.steelyard.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class StepPermutationTest {
  private static double pValue(double[] values, int shuffles) {
    return StepPermutation.pValue(values, 0, values.length, 2, shuffles, Seeds.generator(1));
  }

  @Test
  void equalValuesAreNoEvidence() {
    assertThat(pValue(new double[20], 99)).isEqualTo(1);
  }

  @Test
  void aClearStepHasTheSmallestPValue() {
    double[] values = new double[40];
    for (int i = 0; i < 40; i++) {
      values[i] = (i < 15 ? 0 : 10) + i % 3;
    }
    assertThat(pValue(values, 999)).isEqualTo(0.001);
  }

  @Test
  void onlyTheStretchCounts() {
    double[] values = {99, 0, 1, 0, 1, 0, 1, 0, 1, 99};
    assertThat(StepPermutation.pValue(values, 1, 9, 2, 999, Seeds.generator(2))).isGreaterThan(0.1);
  }

  /** Four low values and four high ones have 70 orders, of which two are as clear. */
  @Test
  void theChanceIsThatOfAllOrders() {
    double[] values = {0, 0, 0, 0, 1, 1, 1, 1};
    int shuffles = 20_000;
    double expected = 2 / 70.0;
    // Four standard deviations of the share of so many shuffles.
    double tolerance = 4 * Math.sqrt(expected / shuffles);
    assertThat(pValue(values, shuffles)).isCloseTo(expected, within(tolerance));
  }

  @Test
  void noiseIsRejectedAsOftenAsTheLevelSays() {
    RandomGenerator random = Seeds.generator(3);
    int rounds = 400;
    int rejected = 0;
    for (int round = 0; round < rounds; round++) {
      double[] values = new double[30];
      for (int i = 0; i < 30; i++) {
        values[i] = random.nextGaussian();
      }
      rejected += StepPermutation.pValue(values, 0, 30, 5, 99, random) <= 0.1 ? 1 : 0;
    }
    // Four standard deviations of a binomial count around 40.
    assertThat((double) rejected).isCloseTo(40, within(4 * Math.sqrt(rounds * 0.1 * 0.9)));
  }
}
