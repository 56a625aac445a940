package io.steelyard.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the tests do at their edges; {@link ScipyAgreementTest} has their values. */
class TestsOfDifferenceTest {

  private static double[] sequence(int n, double from) {
    double[] values = new double[n];
    for (int i = 0; i < n; i++) {
      values[i] = from + i * 0.01;
    }
    return values;
  }

  @ParameterizedTest
  @CsvSource({"0.05, 6", "0.01, 8", "0.5, 2", "0.001, 11", "0.03125, 6"})
  void smallestPairedPValueReachesTheLevelAtMinimumForks(double alpha, int forks) {
    assertThat(MinimumForks.forLevel(alpha)).isEqualTo(forks);
    assertThat(smallestPaired(forks)).isLessThanOrEqualTo(alpha);
    assertThat(smallestPaired(forks - 1)).isGreaterThan(alpha);
  }

  private static double smallestPaired(int n) {
    return PairedPermutation.of(sequence(n, 9), sequence(n, 1), 1).orElseThrow().pValue();
  }

  @ParameterizedTest
  @CsvSource({"0.05, 4", "0.01, 5", "0.001, 7"})
  void smallestRankPValueReachesTheLevelAtMinimumForks(double alpha, int forks) {
    assertThat(MinimumForks.forMannWhitney(alpha)).isEqualTo(forks);
    assertThat(smallestRank(forks)).isLessThanOrEqualTo(alpha);
    assertThat(smallestRank(forks - 1)).isGreaterThan(alpha);
  }

  private static double smallestRank(int n) {
    return MannWhitney.of(sequence(n, 9), sequence(n, 1)).orElseThrow().pValue();
  }

  @Test
  void randomSignsAgreeWithAllSigns() {
    // 20 blocks are counted out; a 21st of difference 0 leaves the p-value as it is.
    double[] first = new double[20];
    double[] second = new double[20];
    for (int i = 0; i < 20; i++) {
      first[i] = Math.sin(i * 7.3);
      second[i] = Math.sin(i * 7.3 + 0.4) - 0.15;
    }
    double[] firstLonger = java.util.Arrays.copyOf(first, 21);
    double[] secondLonger = java.util.Arrays.copyOf(second, 21);

    double counted = PairedPermutation.of(first, second, 1).orElseThrow().pValue();
    double sampled = PairedPermutation.of(firstLonger, secondLonger, 1).orElseThrow().pValue();

    assertThat(counted).isBetween(0.02, 0.98);
    // Four standard errors of a share of 100,000.
    assertThat(sampled).isCloseTo(counted, within(4 * Math.sqrt(counted / 1e5)));
  }

  @Test
  void equalValuesDifferInNothing() {
    double[] fives = {5, 5, 5};

    assertThat(PairedPermutation.of(fives, fives, 1).orElseThrow().pValue()).isEqualTo(1);
    assertThat(MannWhitney.of(fives, fives).orElseThrow().pValue()).isEqualTo(1);
    assertThat(MannWhitney.of(new double[40], new double[40]).orElseThrow().pValue()).isEqualTo(1);
  }

  @Test
  void withoutSpreadOrValuesThereIsNoTest() {
    assertThat(Welch.of(new double[] {1, 1}, new double[] {2, 2})).isEmpty();
    assertThat(Welch.of(new double[] {1}, new double[] {2, 3})).isEmpty();
    assertThat(CohensD.of(new double[] {1, 1}, new double[] {2, 2})).isEmpty();
    assertThat(CohensD.of(new double[] {1}, new double[] {2, 3})).isEmpty();
    assertThat(MannWhitney.of(new double[0], new double[] {1})).isEmpty();
    assertThat(PairedPermutation.of(new double[0], new double[0], 1)).isEmpty();
  }

  @Test
  void refusesWhatCannotBePairedOrIsNoPValue() {
    assertThatThrownBy(() -> PairedPermutation.of(new double[2], new double[3], 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("2 values against 3");
    assertThatThrownBy(() -> Holm.adjust(0.1, 1.5))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("pValues[1] is 1.5");
    assertThatThrownBy(() -> MinimumForks.forLevel(0)).isInstanceOf(IllegalArgumentException.class);
    assertThat(Holm.adjust()).isEmpty();
  }
}
