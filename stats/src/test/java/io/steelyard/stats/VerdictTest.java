package io.steelyard.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VerdictTest {

  private static Interval ratio(double low, double high) {
    return new Interval(Math.sqrt(low * high), low, high, 0.95);
  }

  @ParameterizedTest
  @CsvSource({
    "1.021, 1.5, FASTER",
    "1.02, 1.5, INCONCLUSIVE",
    "0.5, 0.979, SLOWER",
    "0.5, 0.98, INCONCLUSIVE",
    "0.98, 1.02, EQUIVALENT",
    "1.001, 1.019, EQUIVALENT",
    "0.97, 1.01, INCONCLUSIVE",
    "0.99, 1.03, INCONCLUSIVE",
    "0.5, 2, INCONCLUSIVE"
  })
  void followsTheInterval(double low, double high, Verdict expected) {
    assertThat(Verdict.of(ratio(low, high), 0.02)).isEqualTo(expected);
  }

  @Test
  void settledRatioNeedsNoMoreForks() {
    assertThat(RequiredForks.toSettle(ratio(1.1, 1.2), 5, 0.02, 100)).hasValue(5);
  }

  @Test
  void requiredForksAreTheFirstAtWhichStudentsHalfWidthIsSmallEnough() {
    // Around 1.05 the interval must shrink from ±5 % to below ±2.9 % in logarithms.
    Interval now = new Interval(1.05, 1.05 / 1.05, 1.05 * 1.05, 0.95);
    int needed = RequiredForks.toSettle(now, 5, 0.02, 100).orElseThrow();

    assertThat(lowAt(needed)).isGreaterThan(1.02);
    assertThat(lowAt(needed - 1)).isLessThanOrEqualTo(1.02);
  }

  private static double lowAt(int forks) {
    double shrink =
        StudentT.critical(forks, 0.95)
            / Math.sqrt(forks)
            / (StudentT.critical(5, 0.95) / Math.sqrt(5));
    return 1.05 * Math.pow(1.05, -shrink);
  }

  @Test
  void equalEnginesNeedForksUntilTheIntervalFitsTheMargin() {
    int needed =
        RequiredForks.toSettle(new Interval(1, 0.96, 1.04, 0.95), 5, 0.02, 200).orElseThrow();

    assertThat(needed).isBetween(9, 20);
  }

  @Test
  void estimateOnTheMarginIsNeverSettled() {
    assertThat(RequiredForks.toSettle(new Interval(1.02, 0.98, 1.06, 0.95), 5, 0.02, 1000))
        .isEmpty();
  }

  @Test
  void refusesWhatIsNoRatio() {
    assertThatThrownBy(() -> RequiredForks.toSettle(new Interval(1, -1, 3, 0.95), 5, 0.02, 10))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> RequiredForks.toSettle(ratio(0.9, 1.1), 1, 0.02, 10))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("two are needed");
    assertThatThrownBy(() -> new Interval(1, 2, 1, 0.95))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("upside down");
  }
}
