package io.steelyard.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Locale;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class AutocorrelationTest {

  /** Forks of trials of which each keeps a share of the one before it. */
  private static Sample sample(double kept, int forks, int trials, RandomGenerator random) {
    double[][] values = new double[forks][trials];
    for (double[] fork : values) {
      double level = random.nextGaussian(100, 5);
      double state = random.nextGaussian();
      for (int i = 0; i < trials; i++) {
        fork[i] = level + state;
        state = kept * state + Math.sqrt(1 - kept * kept) * random.nextGaussian();
      }
    }
    return Sample.of(values);
  }

  @Test
  void independentTrialsAreWorthThemselves() {
    Autocorrelation none =
        Autocorrelation.withinForks(sample(0, 10, 400, Seeds.generator(1))).orElseThrow();

    // Three standard errors of a correlation of 4,000 pairs.
    assertThat(none.lagOne()).isCloseTo(0, within(3 / Math.sqrt(4000)));
    assertThat(none.time()).isBetween(1.0, 1.3);
    assertThat(none.effectiveTrials()).isBetween(3000.0, 4000.0);
    assertThat(none.trials()).isEqualTo(4000);
  }

  @Test
  void trialsThatKeepEightTenthsAreWorthANinth() {
    Autocorrelation strong =
        Autocorrelation.withinForks(sample(0.8, 10, 2000, Seeds.generator(2))).orElseThrow();

    assertThat(strong.lagOne()).isCloseTo(0.8, within(0.02));
    // (1 + 0.8) / (1 − 0.8) = 9.
    assertThat(strong.time()).isCloseTo(9, within(1.5));
  }

  @Test
  void differencesBetweenForksAreNoCorrelation() {
    double[][] forks = new double[4][50];
    RandomGenerator random = Seeds.generator(3);
    for (int fork = 0; fork < forks.length; fork++) {
      for (int i = 0; i < 50; i++) {
        forks[fork][i] = 1000 * fork + random.nextGaussian();
      }
    }

    assertThat(Autocorrelation.withinForks(Sample.of(forks)).orElseThrow().lagOne())
        .isCloseTo(0, within(0.2));
  }

  @Test
  void alternatingTrialsCountAsIndependentAndNotAsMore() {
    double[] series = new double[40];
    for (int i = 0; i < series.length; i++) {
      series[i] = i % 2;
    }
    Autocorrelation alternating = Autocorrelation.of(series).orElseThrow();

    assertThat(alternating.lagOne()).isCloseTo(-39.0 / 40, within(1e-12));
    assertThat(alternating.time()).isEqualTo(1);
  }

  @Test
  void threeTrialsAForkSayNothing() {
    assertThat(Autocorrelation.withinForks(sample(0, 50, 3, Seeds.generator(4)))).isEmpty();
    assertThat(Autocorrelation.of(new double[Autocorrelation.LEAST_TRIALS])).isEmpty();
    assertThat(Autocorrelation.of(new double[0])).isEmpty();
  }

  /** Prints the table of autocorrelation in docs/statistics.md: means over 2,000 samples. */
  @Test
  @Tag("soak")
  void timesAreWhatTheDocumentationSays() {
    for (double kept : new double[] {0, 0.3, 0.5, 0.8}) {
      double truth = (1 + kept) / (1 - kept);
      StringBuilder row = new StringBuilder("| %.1f | %.1f |".formatted(kept, truth));
      for (int trials : new int[] {10, 20, 50, 200}) {
        RandomGenerator random = Seeds.generator(trials);
        int rounds = 2000;
        double lagOne = 0;
        double time = 0;
        for (int round = 0; round < rounds; round++) {
          Autocorrelation seen =
              Autocorrelation.withinForks(sample(kept, 10, trials, random)).orElseThrow();
          lagOne += seen.lagOne() / rounds;
          time += seen.time() / rounds;
        }
        row.append(String.format(Locale.ROOT, " %.2f, %.1f |", lagOne, time));
        if (trials == 200) {
          assertThat(time).isCloseTo(truth, within(0.15 * truth));
        }
      }
      System.out.println(row);
    }
  }
}
