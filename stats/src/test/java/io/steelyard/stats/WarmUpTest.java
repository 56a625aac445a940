package io.steelyard.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.stats.WarmUp.Kind;
import java.util.Arrays;
import java.util.function.IntToDoubleFunction;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WarmUpTest {

  private static final int CAP = 30;
  private static final int SERIES = 400;

  private static double flat(int iteration) {
    return 1;
  }

  /** The k-th noisy series of a shape; spikes of half the time hit that share of the iterations. */
  private static double[] series(
      IntToDoubleFunction shape, double noise, double spikes, int length, int k) {
    RandomGenerator random = Seeds.generator(k);
    double[] times = new double[length];
    for (int i = 0; i < length; i++) {
      times[i] = 1e7 * shape.applyAsDouble(i) * Math.exp(noise * random.nextGaussian());
      times[i] *= random.nextDouble() < spikes ? 1.5 : 1;
    }
    return times;
  }

  /** Iterations after which the online rule ends the warm-up, or the cap. */
  private static int settledAfter(double[] times) {
    int n = 1;
    while (n < times.length && !WarmUp.settled(Arrays.copyOf(times, n))) {
      n++;
    }
    return n;
  }

  /** The given quantile, over many series, of the iterations that the online rule asks for. */
  private static double settledAfter(
      IntToDoubleFunction shape, double noise, double spikes, double quantile) {
    double[] iterations = new double[SERIES];
    for (int k = 0; k < SERIES; k++) {
      iterations[k] = settledAfter(series(shape, noise, spikes, CAP, k));
    }
    return Quantiles.of(iterations, quantile);
  }

  private static double shareOf(Kind kind, IntToDoubleFunction shape, double noise, double spikes) {
    int hits = 0;
    for (int k = 0; k < SERIES; k++) {
      hits += WarmUp.classify(series(shape, noise, spikes, CAP, k)).kind() == kind ? 1 : 0;
    }
    return (double) hits / SERIES;
  }

  @Test
  void quietFlatSeriesSettlesAtOnce() {
    assertThat(settledAfter(WarmUpTest::flat, 0.002, 0, 0.99)).isEqualTo(3);
    assertThat(settledAfter(WarmUpTest::flat, 0.01, 0, 0.9)).isLessThanOrEqualTo(5);
  }

  @Test
  void noisyFlatSeriesSettlesSoonAfterEightIterations() {
    assertThat(settledAfter(WarmUpTest::flat, 0.1, 0, 0.9)).isLessThanOrEqualTo(11);
    assertThat(settledAfter(WarmUpTest::flat, 0.03, 0.1, 0.9)).isLessThanOrEqualTo(10);
  }

  @Test
  void twoIterationsNeverSettle() {
    assertThat(WarmUp.settled(new double[0])).isFalse();
    assertThat(WarmUp.settled(new double[] {1, 1})).isFalse();
    assertThat(WarmUp.settled(new double[] {1, 1, 1})).isTrue();
  }

  @Test
  void threeFallingIterationsDontSettle() {
    assertThat(WarmUp.settled(new double[] {100, 60, 50})).isFalse();
    assertThat(WarmUp.settled(new double[] {100, 98, 97.2})).isFalse();
    assertThat(WarmUp.settled(new double[] {100, 99.7, 99.4}))
        .as("a fall of 0.6 % doesn't matter")
        .isTrue();
  }

  @Test
  void slowFirstIterationCostsOneMore() {
    assertThat(settledAfter(i -> i == 0 ? 1.5 : 1, 0.002, 0, 0.9)).isEqualTo(4);
  }

  @Test
  void stepWithinReachIsWaitedFor() {
    assertThat(settledAfter(i -> i < 2 ? 1.4 : 1, 0.002, 0, 0.1)).isGreaterThanOrEqualTo(5);
    assertThat(settledAfter(i -> i < 2 ? 1.4 : 1, 0.002, 0, 0.9)).isLessThanOrEqualTo(6);
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.002, 0.01, 0.03})
  void compilationCurveSettlesOnlyWithinTheQuietSpreadOfItsEnd(double noise) {
    IntToDoubleFunction curve = i -> 1 + 2 * Math.exp(-i / 2.0);

    int earliest = (int) settledAfter(curve, noise, 0, 0.05);

    assertThat(curve.applyAsDouble(earliest)).isLessThan(1 + WarmUp.QUIET);
    assertThat(settledAfter(curve, noise, 0, 0.95)).isLessThan(CAP);
  }

  @Test
  void visibleDriftNeverSettles() {
    assertThat(settledAfter(i -> Math.exp(-0.03 * i), 0.01, 0, 0.05)).isEqualTo(CAP);
    assertThat(settledAfter(i -> Math.exp(0.03 * i), 0.01, 0, 0.05)).isEqualTo(CAP);
  }

  @Test
  void spikesDontHideDrift() {
    assertThat(settledAfter(i -> Math.exp(-0.03 * i), 0.002, 0.1, 0.25)).isEqualTo(CAP);
  }

  @Test
  void dropOfTheVeryLastIterationIsNotSettled() {
    double[] times = {100, 104, 97, 102, 95, 103, 99, 101, 60};

    assertThat(WarmUp.settled(Arrays.copyOf(times, 8))).isTrue();
    assertThat(WarmUp.settled(times)).isFalse();
  }

  @Test
  void classifiesFlatSeries() {
    assertThat(shareOf(Kind.FLAT, WarmUpTest::flat, 0.002, 0)).isGreaterThan(0.99);
    assertThat(shareOf(Kind.FLAT, WarmUpTest::flat, 0.01, 0)).isGreaterThan(0.94);
    assertThat(shareOf(Kind.FLAT, WarmUpTest::flat, 0.1, 0)).isGreaterThan(0.94);
    // One of the first two iterations is a spike in 19 % of the series, and looks like warm-up.
    assertThat(shareOf(Kind.FLAT, WarmUpTest::flat, 0.002, 0.1)).isGreaterThan(0.75);
  }

  @Test
  void classifiesWarmUp() {
    assertThat(shareOf(Kind.WARM_UP, i -> 1 + 2 * Math.exp(-i / 2.0), 0.01, 0.1))
        .isGreaterThan(0.95);
    assertThat(shareOf(Kind.WARM_UP, i -> i < 5 ? 1.4 : 1, 0.03, 0)).isGreaterThan(0.95);
  }

  @Test
  void classifiesSlowdown() {
    assertThat(shareOf(Kind.SLOWDOWN, i -> i < 12 ? 1 : 1.3, 0.01, 0)).isGreaterThan(0.95);
    assertThat(shareOf(Kind.SLOWDOWN, i -> i < 4 ? 2 : i < 12 ? 1 : 1.3, 0.01, 0))
        .as("warm-up, then a slowdown")
        .isGreaterThan(0.95);
  }

  @Test
  void classifiesWhatNeverSettles() {
    assertThat(shareOf(Kind.NO_STEADY_STATE, i -> Math.exp(-0.03 * i), 0.01, 0))
        .isGreaterThan(0.95);
    assertThat(shareOf(Kind.NO_STEADY_STATE, i -> i < 26 ? 1 : 1.3, 0.01, 0))
        .as("a change in the last quarter")
        .isGreaterThan(0.95);
  }

  @Test
  void namesTheFirstSteadyIteration() {
    for (int start : new int[] {1, 2, 3, 5, 10, 20}) {
      double[] times = series(i -> i < start ? 1.4 : 1, 0.002, 0, CAP, start);

      assertThat(WarmUp.classify(times))
          .isEqualTo(new WarmUp.Classification(Kind.WARM_UP, java.util.OptionalInt.of(start)));
    }
    assertThat(WarmUp.classify(series(WarmUpTest::flat, 0.002, 0, CAP, 1)).steadyStart())
        .hasValue(0);
    assertThat(WarmUp.classify(series(i -> 1 + i, 0.002, 0, CAP, 1)).steadyStart()).isEmpty();
  }

  @Test
  void shortSeriesAreJudgedByTheirSpreadAlone() {
    assertThat(WarmUp.classify(new double[] {5}).kind()).isEqualTo(Kind.FLAT);
    assertThat(WarmUp.classify(new double[] {5, 5.05}).kind()).isEqualTo(Kind.FLAT);
    assertThat(WarmUp.classify(new double[] {9, 5, 5}).kind()).isEqualTo(Kind.NO_STEADY_STATE);
    assertThat(WarmUp.classify(new double[] {9, 5, 5, 5}).kind()).isEqualTo(Kind.WARM_UP);
  }

  @Test
  void exactlyEqualTimesAreFlat() {
    double[] times = new double[20];
    Arrays.fill(times, 3e6);

    assertThat(WarmUp.classify(times).kind()).isEqualTo(Kind.FLAT);
    assertThat(WarmUp.settled(times)).isTrue();
  }

  @Test
  void refusesTimesThatAreNone() {
    assertThatThrownBy(() -> WarmUp.settled(new double[] {1, 0, 1}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("times[1] is 0.0");
    assertThatThrownBy(() -> WarmUp.classify(new double[] {Double.NaN}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("NaN");
    assertThatThrownBy(() -> WarmUp.classify(new double[0]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("without iterations");
  }
}
