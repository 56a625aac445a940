package io.steelyard.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class SampleTest {

  private static final double ROUNDING = 1e-12;

  @Test
  void describesForksAndTrials() {
    Sample sample = Sample.of(new double[][] {{1, 3}, {4, 6, 8}, {10}});

    assertThat(sample.forks()).isEqualTo(3);
    assertThat(sample.trials()).isEqualTo(6);
    assertThat(sample.forkMeans()).containsExactly(2, 6, 10);
    assertThat(sample.mean()).isEqualTo(6);
    assertThat(sample.median()).isEqualTo(5);
    assertThat(sample.sd()).isEqualTo(4);
    assertThat(sample.min()).isEqualTo(1);
    assertThat(sample.max()).isEqualTo(10);
    assertThat(sample.variationBetweenForks()).isCloseTo(4.0 / 6, within(ROUNDING));
    // Squares 2 + 8 over 1 + 2 degrees of freedom.
    assertThat(sample.variationWithinForks()).isCloseTo(Math.sqrt(10.0 / 3) / 6, within(ROUNDING));
  }

  @Test
  void weightsRatesByTheirTimes() {
    Sample sample =
        Sample.rates(new double[][] {{64, 64}, {10, 30}}, new double[][] {{1, 3}, {1, 1}});

    assertThat(sample.fork(0)).containsExactly(64, 64.0 / 3);
    assertThat(sample.forkMeans()[0]).as("128 tokens in 4 s").isCloseTo(32, within(ROUNDING));
    assertThat(sample.forkMeans()[1]).isEqualTo(20);
  }

  @Test
  void resampledRateStaysTotalOverTotal() {
    Sample sample = Sample.rates(new double[][] {{64, 64}}, new double[][] {{1, 3}});
    RandomGenerator random = Seeds.generator(5);

    for (int i = 0; i < 50; i++) {
      double rate = sample.resampledForkMean(0, random);
      assertThat(Arrays.asList(64.0, 32.0, 64.0 / 3))
          .anySatisfy(possible -> assertThat(rate).isCloseTo(possible, within(ROUNDING)));
    }
  }

  @Test
  void singleForkShowsNoSpread() {
    assertThat(Sample.ofForks(7).sd()).isZero();
    assertThat(Sample.ofForks(7).variationBetweenForks()).isZero();
    assertThat(Sample.ofForks(7, 9).variationWithinForks()).isZero();
  }

  @Test
  void equalValuesAtLargeOffsetHaveExactlyNoSpread() {
    assertThat(Sample.ofForks(1e15 / 3, 1e15 / 3, 1e15 / 3).sd()).isZero();
  }

  @Test
  void doesNotFollowChangesOfItsInput() {
    double[][] forks = {{1, 2}, {3}};
    Sample sample = Sample.of(forks);
    forks[0][0] = 100;
    sample.forkMeans()[0] = 100;
    sample.fork(1)[0] = 100;

    assertThat(sample.forkMeans()).containsExactly(1.5, 3);
    assertThat(sample.max()).isEqualTo(3);
  }

  @Test
  void refusesWhatIsNoSample() {
    assertThatThrownBy(() -> Sample.of(new double[0][]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("at least one fork");
    assertThatThrownBy(() -> Sample.of(new double[][] {{1}, {}}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("forks[1] is empty");
    assertThatThrownBy(() -> Sample.of(new double[][] {{1}, {2, Double.NaN}}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("forks[1][1] is NaN");
    assertThatThrownBy(() -> Sample.ofForks(1, Double.POSITIVE_INFINITY))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Infinity");
    assertThatThrownBy(() -> Sample.rates(new double[][] {{1}}, new double[][] {{0}}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("times[0][0] is 0.0");
    assertThatThrownBy(() -> Sample.rates(new double[][] {{-1}}, new double[][] {{1}}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("amounts[0][0] is -1.0");
    assertThatThrownBy(() -> Sample.rates(new double[][] {{1, 2}}, new double[][] {{1}}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("2 amounts but 1 times");
    assertThatThrownBy(() -> Sample.rates(new double[][] {{1}, {2}}, new double[][] {{1}}))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("2 forks of amounts but 1 forks of times");
  }
}
