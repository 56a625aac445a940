package io.steelyard.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class ChangePointsTest {

  private static final double PENALTY = 8;

  /** Every segmentation of a short series, tried one after the other. */
  private static double cheapestByExhaustion(double[] values, int minimumLength) {
    double cheapest = Double.POSITIVE_INFINITY;
    int n = values.length;
    for (int cuts = 0; cuts < 1 << (n - 1); cuts++) {
      double cost = 0;
      int start = 0;
      boolean allowed = true;
      for (int end = 1; end <= n; end++) {
        if (end == n || (cuts >> (end - 1) & 1) == 1) {
          allowed &= start == 0 || end - start >= minimumLength;
          cost += Moments.squaredDeviations(Arrays.copyOfRange(values, start, end));
          cost += start == 0 ? 0 : PENALTY;
          start = end;
        }
      }
      cheapest = allowed ? Math.min(cheapest, cost) : cheapest;
    }
    return cheapest;
  }

  private static double cost(double[] values, int[] starts) {
    double cost = PENALTY * (starts.length - 1);
    for (int i = 0; i < starts.length; i++) {
      int end = i + 1 < starts.length ? starts[i + 1] : values.length;
      cost += Moments.squaredDeviations(Arrays.copyOfRange(values, starts[i], end));
    }
    return cost;
  }

  @Test
  void findsTheCheapestSegmentation() {
    RandomGenerator random = Seeds.generator(3);
    for (int round = 0; round < 300; round++) {
      double[] values = new double[1 + random.nextInt(12)];
      double level = 0;
      for (int i = 0; i < values.length; i++) {
        level += random.nextInt(4) == 0 ? random.nextGaussian(0, 6) : 0;
        values[i] = level + random.nextGaussian();
      }
      int minimumLength = 1 + random.nextInt(4);

      int[] starts = ChangePoints.ofMean(values, 1, PENALTY, minimumLength);

      assertThat(starts[0]).isZero();
      for (int i = 1; i < starts.length; i++) {
        int end = i + 1 < starts.length ? starts[i + 1] : values.length;
        assertThat(end - starts[i]).isGreaterThanOrEqualTo(minimumLength);
      }
      assertThat(cost(values, starts))
          .as("round %d: %s cut at %s", round, Arrays.toString(values), Arrays.toString(starts))
          .isCloseTo(cheapestByExhaustion(values, minimumLength), within(1e-9));
    }
  }

  @Test
  void findsStepsOfALongSeries() {
    RandomGenerator random = Seeds.generator(8);
    double[] values = new double[3000];
    for (int i = 0; i < values.length; i++) {
      values[i] = 1e6 + (i < 700 ? 0 : i < 2100 ? 5 : -3) + random.nextGaussian();
    }

    assertThat(ChangePoints.ofMean(values, ChangePoints.noiseOf(values), 4 * Math.log(3000), 2))
        .containsExactly(0, 700, 2100);
  }

  @Test
  void estimatesNoiseDespiteSteps() {
    RandomGenerator random = Seeds.generator(4);
    double[] values = new double[500];
    for (int i = 0; i < values.length; i++) {
      values[i] = i / 100 * 50 + random.nextGaussian(0, 2);
    }

    assertThat(ChangePoints.noiseOf(values)).isCloseTo(2, within(0.25));
  }

  @Test
  void refusesAnEmptySeriesOrNoNoise() {
    assertThatThrownBy(() -> ChangePoints.ofMean(new double[0], 1, 1, 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> ChangePoints.ofMean(new double[] {1}, 0, 1, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("noise 0.0");
  }
}
