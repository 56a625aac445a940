package io.steelyard.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class EDivisiveTest {

  /** The definition, pair by pair: a stretch of m values and the l after it. */
  private static double difference(double[] values, int cut, int end) {
    return (double) cut
        * (end - cut)
        / end
        * (2 * meanDistance(values, 0, cut, cut, end)
            - meanDistance(values, 0, cut, 0, cut)
            - meanDistance(values, cut, end, cut, end));
  }

  private static double meanDistance(double[] values, int a, int b, int c, int d) {
    double sum = 0;
    int pairs = 0;
    for (int i = a; i < b; i++) {
      for (int j = c; j < d; j++) {
        if (i != j) {
          sum += Math.abs(values[i] - values[j]);
          pairs++;
        }
      }
    }
    return sum / pairs;
  }

  @Test
  void cutsWhereTheEnergyStatisticOfTheDefinitionIsLargest() {
    RandomGenerator random = Seeds.generator(7);
    for (int round = 0; round < 100; round++) {
      double[] values = new double[6 + random.nextInt(15)];
      int step = 2 + random.nextInt(values.length - 3);
      for (int i = 0; i < values.length; i++) {
        values[i] = (i < step ? 0 : 8) + random.nextGaussian();
      }
      int best = -1;
      double largest = 0;
      for (int cut = 2; cut <= values.length - 2; cut++) {
        for (int end = cut + 2; end <= values.length; end++) {
          if (difference(values, cut, end) > largest) {
            largest = difference(values, cut, end);
            best = cut;
          }
        }
      }

      EDivisive.Split split = EDivisive.best(values, 0, values.length, 2);

      assertThat(split.position()).as("round %d", round).isEqualTo(best);
      assertThat(split.difference()).isCloseTo(largest, within(1e-9 * largest));
    }
  }

  @Test
  void findsStepsUpAndDown() {
    RandomGenerator random = Seeds.generator(8);
    double[] values = new double[120];
    for (int i = 0; i < values.length; i++) {
      values[i] = (i < 40 ? 0 : i < 70 ? 6 : 2) + random.nextGaussian();
    }

    assertThat(EDivisive.of(values, 0.01, 199, 3, 1))
        .extracting(EDivisive.Cut::position)
        .containsExactly(40, 70);
  }

  @Test
  void cutsSeriesWithoutChangeAsSeldomAsTheLevelSays() {
    RandomGenerator random = Seeds.generator(9);
    int cut = 0;
    int rounds = 400;
    for (int round = 0; round < rounds; round++) {
      double[] values = random.doubles(40).map(u -> Math.pow(u, 4)).toArray();
      cut += EDivisive.of(values, 0.1, 99, 3, round).isEmpty() ? 0 : 1;
    }

    // Four standard errors of a share of 400.
    assertThat((double) cut / rounds).isBetween(0.04, 0.16);
  }

  @Test
  void findsTheSameForTheSameSeed() {
    double[] values = Seeds.generator(3).doubles(60).toArray();
    Arrays.fill(values, 30, 40, 0.8);

    assertThat(EDivisive.of(values, 0.5, 99, 3, 5)).isEqualTo(EDivisive.of(values, 0.5, 99, 3, 5));
  }

  @Test
  void seriesThatIsEqualOrTooShortHasNoChange() {
    assertThat(EDivisive.of(new double[50], 0.05, 99, 3, 1)).isEmpty();
    assertThat(EDivisive.of(new double[] {1, 1, 9, 9}, 0.5, 99, 3, 1)).isEmpty();
    assertThat(EDivisive.of(new double[0], 0.5, 99, 3, 1)).isEmpty();
  }

  @Test
  void refusesWhatIsNoTest() {
    assertThatThrownBy(() -> EDivisive.of(new double[9], 0, 99, 3, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("level 0.0");
    assertThatThrownBy(() -> EDivisive.of(new double[9], 0.05, 99, 1, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("minimum length 1");
  }
}
