package io.steelyard.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class TrialsPerForkTest {
  /** Fork means and trials that scatter by these standard deviations around 100. */
  private static Sample sample(double between, double within, int forks, int trials, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    double[][] values = new double[forks][trials];
    for (double[] fork : values) {
      double mean = 100 + between * random.nextGaussian();
      for (int i = 0; i < trials; i++) {
        fork[i] = mean + within * random.nextGaussian();
      }
    }
    return Sample.of(values);
  }

  @Test
  void isTheRootOfCostsTimesVariances() {
    Sample sample = sample(1, 2, 4_000, 10, 1);

    // √(9 · 4) = 6, up to what 4,000 forks tell of the variances (2 %); then rounded up.
    assertThat(TrialsPerFork.best(sample, Optional.empty(), 9, 1, 1, 100)).isBetween(6, 7);
  }

  @Test
  void ofARatioWhatBothSidesOfABlockShareDoesNotCount() {
    Sample subject = sample(5, 1, 500, 10, 2);
    SplittableRandom random = new SplittableRandom(3);
    double[][] shared = new double[500][10];
    for (int fork = 0; fork < shared.length; fork++) {
      for (int i = 0; i < 10; i++) {
        shared[fork][i] = subject.forkMeans()[fork] + random.nextGaussian();
      }
    }

    int alone = TrialsPerFork.best(subject, Optional.empty(), 1, 1, 1, 100);
    int paired = TrialsPerFork.best(subject, Optional.of(Sample.of(shared)), 1, 1, 1, 100);

    assertThat(alone).isEqualTo(1);
    assertThat(paired).isGreaterThan(5);
  }

  @Test
  void forksThatDifferNoMoreThanTheirTrialsExplainGetTheMost() {
    Sample equalForks = Sample.of(new double[][] {{1, 3}, {1, 3}, {1, 3}});

    assertThat(TrialsPerFork.best(equalForks, Optional.empty(), 1, 1, 2, 20)).isEqualTo(20);
  }

  @Test
  void trialsThatAreAllEqualAreNotRepeated() {
    Sample equalTrials = Sample.of(new double[][] {{1, 1}, {2, 2}, {3, 3}});

    assertThat(TrialsPerFork.best(equalTrials, Optional.empty(), 1, 1, 2, 20)).isEqualTo(2);
  }

  @Test
  void costsThatAreNotAboveZeroAreRefused() {
    Sample sample = sample(1, 1, 3, 3, 4);

    assertThatIllegalArgumentException()
        .isThrownBy(() -> TrialsPerFork.best(sample, Optional.empty(), 0, 1, 1, 20))
        .withMessageContaining("a fork costs 0.0");
  }
}
