package io.steelyard.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class FarOutliersTest {
  /** Quartiles 10 and 12: the fences stand at 7 and 15, the outer ones at 4 and 18. */
  private static final double[][] FORKS = {{10, 10, 17}, {12, 12, 11}, {90}};

  @Test
  void farTrialsGoAndNearOnesStay() {
    Sample sample = Sample.of(FORKS);

    assertThat(FarOutliers.count(sample)).isEqualTo(1);
    assertThat(FarOutliers.countNear(sample)).isEqualTo(0);
    assertThat(FarOutliers.drop(sample).allTrials()).containsExactly(10, 10, 17, 12, 12, 11);
  }

  @Test
  void aForkWithoutATrialIsLeftOutOfBothSamples() {
    Sample other = Sample.of(new double[][] {{1, 2}, {1, 2}, {1, 2}});

    FarOutliers.Pair pair = FarOutliers.drop(Sample.of(FORKS), other).orElseThrow();

    assertThat(pair.kept()).containsExactly(0, 1);
    assertThat(pair.subject().forks()).isEqualTo(2);
    assertThat(pair.baseline().forks()).isEqualTo(2);
  }

  @Test
  void whereNoBlockIsLeftThereIsNoPair() {
    Sample first = Sample.of(new double[][] {{900}, {10, 11, 10, 11}});
    Sample second = Sample.of(new double[][] {{10, 11, 10, 11}, {900}});

    assertThat(FarOutliers.drop(first, second)).isEmpty();
  }

  @Test
  void whereHalfOfTheTrialsAreEqualNoneIsFar() {
    Sample sample = Sample.of(new double[][] {{10, 10, 10, 10, 11}});

    assertThat(FarOutliers.count(sample)).isZero();
    assertThat(FarOutliers.drop(sample).trials()).isEqualTo(5);
  }

  @Test
  void ratesKeepTheWeightsOfTheirTimes() {
    Sample rates =
        Sample.rates(
            new double[][] {{100, 100, 100, 100}, {100, 100, 100, 100}},
            new double[][] {{1, 2, 1, 2}, {1, 2, 1, 0.001}});
    // Rates of 50 and 100, and one of 100,000.

    Sample left = FarOutliers.drop(rates);

    assertThat(left.trials()).isEqualTo(7);
    assertThat(left.forkMeans()[1]).isCloseTo(300 / 4.0, within(1e-12));
  }
}
