package io.steelyard.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DetectableChangeTest {
  @ParameterizedTest
  @CsvSource({"3, 0.01", "6, 0.03", "20, 0.05"})
  void suchAChangeIsFoundAsOftenAsItSays(int blocks, double deviation) {
    double change = DetectableChange.ratio(deviation, blocks, 0.02, 0.99, 0.95).orElseThrow();
    SplittableRandom random = new SplittableRandom(blocks);
    int studies = 2_000;
    int found = 0;
    for (int study = 0; study < studies; study++) {
      double[] logs = new double[blocks];
      for (int i = 0; i < blocks; i++) {
        logs[i] = Math.log(change) + deviation * random.nextGaussian();
      }
      found += StudentT.interval(logs, 0.99).low() > Math.log(1.02) ? 1 : 0;
    }

    // Four standard errors of 2,000 studies: 4·√(0.95·0.05/2,000).
    assertThat((double) found / studies).isBetween(0.93, 0.97);
  }

  @Test
  void withoutNoiseOnlyTheMarginIsLeft() {
    assertThat(DetectableChange.ratio(0, 5, 0.02, 0.99, 0.95).orElseThrow())
        .isCloseTo(1.02, within(1e-12));
  }

  @Test
  void twoBlocksFindNothing() {
    assertThat(DetectableChange.ratio(0.01, 2, 0.02, 0.99, 0.95)).isEmpty();
  }

  @Test
  void theBoundOfNoneIsThatOfItsFormula() {
    assertThat(Proportion.atMost(0, 24, 0.95))
        .isCloseTo(1 - Math.pow(0.05, 1 / 24.0), within(1e-12));
    // scipy.stats.binomtest(2, 30, alternative='less').proportion_ci(0.95, 'exact').high
    assertThat(Proportion.atMost(2, 30, 0.95)).isCloseTo(0.19532604365, within(1e-9));
    assertThat(Proportion.atMost(0, 0, 0.95)).isEqualTo(1);
    assertThatIllegalArgumentException().isThrownBy(() -> Proportion.atMost(3, 2, 0.95));
  }
}
