package io.steelyard.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class UnpairedRatioTest {
  private static final double[] SLOW = {9.8, 10.1, 10.0, 10.2};
  private static final double[] FAST = {19.9, 20.3, 20.1};

  /** The rounding of a few logarithms. */
  private static final double ROUNDING = 1e-12;

  @Test
  void theEstimateIsTheRatioOfGeometricMeansTurnedSoThatMoreIsBetter() {
    double expected = Math.cbrt(19.9 * 20.3 * 20.1) / Math.pow(9.8 * 10.1 * 10.0 * 10.2, 0.25);

    Interval rate = UnpairedRatio.of(FAST, SLOW, true, 0.95).orElseThrow();
    Interval time = UnpairedRatio.of(FAST, SLOW, false, 0.95).orElseThrow();

    assertThat(rate.estimate()).isCloseTo(expected, within(ROUNDING));
    assertThat(time.estimate()).isCloseTo(1 / expected, within(ROUNDING));
    assertThat(time.low()).isCloseTo(1 / rate.high(), within(ROUNDING));
    assertThat(rate.low()).isLessThan(expected);
    assertThat(rate.high()).isGreaterThan(expected);
  }

  @Test
  void theIntervalEndsWhereWelchsTestTurns() {
    Interval interval = UnpairedRatio.of(FAST, SLOW, true, 0.95).orElseThrow();
    double[] scaled = SLOW.clone();
    for (int i = 0; i < scaled.length; i++) {
      scaled[i] = Math.log(SLOW[i] * interval.low());
    }
    double[] fast = FAST.clone();
    for (int i = 0; i < fast.length; i++) {
      fast[i] = Math.log(FAST[i]);
    }

    // The quantile is found by iteration.
    assertThat(Welch.of(fast, scaled).orElseThrow().pValue()).isCloseTo(0.05, within(1e-8));
  }

  @Test
  void itCoversTheTruthAsOftenAsItSays() {
    Random random = new Random(20_260_301);
    int covered = 0;
    int runs = 4_000;
    for (int run = 0; run < runs; run++) {
      double[] subject = new double[4];
      double[] baseline = new double[7];
      for (int i = 0; i < subject.length; i++) {
        subject[i] = 20 * Math.exp(0.03 * random.nextGaussian());
      }
      for (int i = 0; i < baseline.length; i++) {
        baseline[i] = 10 * Math.exp(0.01 * random.nextGaussian());
      }
      Interval interval = UnpairedRatio.of(subject, baseline, true, 0.95).orElseThrow();
      covered += interval.low() <= 2 && interval.high() >= 2 ? 1 : 0;
    }
    // Four standard errors of a share of 0.95 over 4,000 runs.
    assertThat(covered / (double) runs).isCloseTo(0.95, within(0.014));
  }

  @Test
  void oneForkAllowsNoIntervalAndNoSpreadMakesItAPoint() {
    assertThat(UnpairedRatio.of(new double[] {1}, SLOW, true, 0.95)).isEqualTo(Optional.empty());
    Interval point =
        UnpairedRatio.of(new double[] {2, 2}, new double[] {1, 1}, true, 0.95).orElseThrow();
    assertThat(point.low()).isCloseTo(2, within(ROUNDING));
    assertThat(point.high()).isCloseTo(2, within(ROUNDING));
  }

  @Test
  void valuesThatAreNotAboveZeroAreRefused() {
    assertThatThrownBy(() -> UnpairedRatio.of(new double[] {1, 0}, SLOW, true, 0.95))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
