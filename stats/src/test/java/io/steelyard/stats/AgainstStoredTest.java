package io.steelyard.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class AgainstStoredTest {
  @Test
  void theIntervalIsThatOfOneMoreValue() {
    double[] then = {Math.exp(0.1), Math.exp(0.2), Math.exp(0.3)};

    Interval ratio = AgainstStored.ratio(Math.exp(0.4), then, true, 0.95).orElseThrow();

    // t of 2 degrees at 97.5 % is 4.302653; s is 0.1.
    double half = 4.302652729911275 * 0.1 * Math.sqrt(4 / 3.0);
    assertThat(Math.log(ratio.estimate())).isCloseTo(0.2, within(1e-12));
    assertThat(Math.log(ratio.low())).isCloseTo(0.2 - half, within(1e-9));
    assertThat(Math.log(ratio.high())).isCloseTo(0.2 + half, within(1e-9));
  }

  @Test
  void ofTimesLessIsBetter() {
    double[] then = {100, 101, 99};

    assertThat(AgainstStored.ratio(50, then, false, 0.95).orElseThrow().estimate())
        .isCloseTo(2, within(1e-4));
  }

  @Test
  void oneEarlierRunShowsNoScatter() {
    assertThat(AgainstStored.ratio(1, new double[] {1}, true, 0.95)).isEmpty();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> AgainstStored.ratio(1, new double[] {1, 0}, true, 0.95));
  }

  @Test
  void anEqualRunIsInsideAsOftenAsTheLevelSays() {
    RandomGenerator random = Seeds.generator(7);
    int studies = 20_000;
    int outside = 0;
    for (int study = 0; study < studies; study++) {
      double[] then = new double[5];
      for (int run = 0; run < then.length; run++) {
        then[run] = Math.exp(random.nextGaussian(0, 0.05));
      }
      double now = Math.exp(random.nextGaussian(0, 0.05));
      Interval ratio = AgainstStored.ratio(now, then, true, 0.95).orElseThrow();
      outside += ratio.low() > 1 || ratio.high() < 1 ? 1 : 0;
    }

    // Four standard errors of 20,000 are 0.006.
    assertThat((double) outside / studies).isCloseTo(0.05, within(0.006));
  }
}
