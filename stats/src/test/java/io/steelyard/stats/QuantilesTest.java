package io.steelyard.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QuantilesTest {

  @ParameterizedTest
  @CsvSource({
    "0.5, 0.95, 6",
    "0.5, 0.99, 8",
    "0.9, 0.95, 36",
    "0.1, 0.95, 36",
    "0.95, 0.95, 72",
    "0.99, 0.95, 368"
  })
  void intervalNeedsSoManyValues(double p, double level, int least) {
    assertThat(Quantiles.leastValues(p, level)).isEqualTo(least);
    assertThat(Quantiles.interval(new double[least - 1], p, level)).isEmpty();
    assertThat(Quantiles.interval(new double[least], p, level)).isPresent();
  }

  @Test
  void sixValuesHoldTheirMedianBetweenTheirEnds() {
    assertThat(Quantiles.interval(new double[] {4, 1, 9, 2, 7, 5}, 0.5, 0.95))
        .contains(new Interval(4.5, 1, 9, 0.95));
  }

  @ParameterizedTest
  @CsvSource({"0.5, 10", "0.5, 31", "0.9, 50", "0.99, 500"})
  void intervalHoldsTheQuantileOfAnyDistributionAtLeastAsOftenAsItSays(double p, int n) {
    RandomGenerator random = Seeds.generator(n);
    int held = 0;
    int rounds = 4000;
    for (int round = 0; round < rounds; round++) {
      // Of a uniform variable's inverse the p-quantile is 1 / (1 − p): as heavy a tail as can be.
      double[] values = random.doubles(n).map(u -> 1 / (1 - u)).toArray();
      Optional<Interval> interval = Quantiles.interval(values, p, 0.95);
      double truth = 1 / (1 - p);
      held += interval.get().low() <= truth && truth <= interval.get().high() ? 1 : 0;
    }

    // Three standard errors of 4,000 rounds are 1 %.
    assertThat((double) held / rounds).isBetween(0.94, 1.0);
  }

  @Test
  void boundOfNoQuantileIsRefused() {
    assertThatThrownBy(() -> Quantiles.leastValues(1, 0.95))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("quantile 1.0 has no interval");
    assertThatThrownBy(() -> Quantiles.interval(new double[10], 0.5, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("confidence level 1.0");
  }
}
