package io.steelyard.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every test statistic and p-value against stored results of SciPy. */
class ScipyAgreementTest {

  static List<ScipyCase> welch() {
    return ScipyCase.read("welch.csv");
  }

  @ParameterizedTest
  @MethodSource("welch")
  void welchAgrees(ScipyCase scipy) {
    Welch welch = Welch.of(scipy.a(), scipy.b()).orElseThrow();
    agrees(scipy, welch.t(), welch.degrees(), welch.pValue());
  }

  static List<ScipyCase> cohensD() {
    return ScipyCase.read("cohens-d.csv");
  }

  @ParameterizedTest
  @MethodSource("cohensD")
  void cohensDAgrees(ScipyCase scipy) {
    agrees(scipy, CohensD.of(scipy.a(), scipy.b()).orElseThrow());
  }

  static List<ScipyCase> mannWhitney() {
    return ScipyCase.read("mann-whitney.csv");
  }

  @ParameterizedTest
  @MethodSource("mannWhitney")
  void mannWhitneyAgrees(ScipyCase scipy) {
    MannWhitney test = MannWhitney.of(scipy.a(), scipy.b()).orElseThrow();
    agrees(scipy, test.u(), test.pValue());
  }

  static List<ScipyCase> pairedPermutation() {
    return ScipyCase.read("paired-permutation.csv");
  }

  @ParameterizedTest
  @MethodSource("pairedPermutation")
  void pairedPermutationAgrees(ScipyCase scipy) {
    PairedPermutation test = PairedPermutation.of(scipy.a(), scipy.b(), 1).orElseThrow();
    agrees(scipy, test.meanDifference(), test.pValue());
  }

  static List<ScipyCase> studentT() {
    return ScipyCase.read("student-t.csv");
  }

  @ParameterizedTest
  @MethodSource("studentT")
  void studentIntervalAgrees(ScipyCase scipy) {
    Interval interval = StudentT.interval(scipy.a(), scipy.b()[0]);
    agrees(scipy, interval.low(), interval.high());
  }

  static List<ScipyCase> quantiles() {
    return ScipyCase.read("quantiles.csv");
  }

  @ParameterizedTest
  @MethodSource("quantiles")
  void quantilesAgree(ScipyCase numpy) {
    double[] ours = new double[numpy.b().length];
    for (int i = 0; i < ours.length; i++) {
      ours[i] = Quantiles.of(numpy.a(), numpy.b()[i]);
    }
    agrees(numpy, ours);
  }

  static List<ScipyCase> holm() {
    return ScipyCase.read("holm.csv");
  }

  @ParameterizedTest
  @MethodSource("holm")
  void holmAgrees(ScipyCase statsmodels) {
    agrees(statsmodels, Holm.adjust(statsmodels.a()));
  }

  static List<ScipyCase> trend() {
    return ScipyCase.read("trend.csv");
  }

  @ParameterizedTest
  @MethodSource("trend")
  void trendAgrees(ScipyCase scipy) {
    boolean slope = scipy.call().startsWith("theilslopes");
    agrees(scipy, slope ? Robust.slope(scipy.a()) : MannKendall.oneSided(scipy.a()));
  }

  static List<ScipyCase> quantileIntervals() {
    return ScipyCase.read("quantile-intervals.csv");
  }

  @ParameterizedTest
  @MethodSource("quantileIntervals")
  void quantileIntervalAgrees(ScipyCase scipy) {
    Interval interval = Quantiles.interval(scipy.a(), scipy.b()[0], scipy.b()[1]).orElseThrow();
    agrees(scipy, interval.low(), interval.high());
  }

  static List<ScipyCase> autocorrelation() {
    return ScipyCase.read("autocorrelation.csv");
  }

  @ParameterizedTest
  @MethodSource("autocorrelation")
  void autocorrelationAgrees(ScipyCase statsmodels) {
    Autocorrelation ours = Autocorrelation.of(statsmodels.a()).orElseThrow();
    agrees(statsmodels, ours.lagOne(), ours.time());
  }

  static List<ScipyCase> shape() {
    return ScipyCase.read("shape.csv");
  }

  @ParameterizedTest
  @MethodSource("shape")
  void shapeStatisticsAgree(ScipyCase scipy) {
    boolean skew = scipy.call().startsWith("skew");
    agrees(scipy, skew ? ShapeFigures.skew(scipy.a()) : ShapeFigures.twoGroups(scipy.a()));
  }

  static List<ScipyCase> spread() {
    return ScipyCase.read("spread.csv");
  }

  @ParameterizedTest
  @MethodSource("spread")
  void spreadAgrees(ScipyCase scipy) {
    if (scipy.call().startsWith("median_abs")) {
      agrees(scipy, Robust.deviation(scipy.a()));
    } else {
      TukeyFences fences = TukeyFences.of(scipy.a());
      double lower = fences.lowerQuartile();
      double upper = fences.upperQuartile();
      agrees(scipy, lower, upper, upper - lower);
    }
  }

  @Test
  void twoHundredCasesAndMoreAreStored() {
    long cases =
        Stream.of(
                "welch",
                "cohens-d",
                "mann-whitney",
                "paired-permutation",
                "student-t",
                "quantiles",
                "holm",
                "trend",
                "quantile-intervals",
                "autocorrelation",
                "shape",
                "spread")
            .mapToLong(name -> ScipyCase.read(name + ".csv").size())
            .sum();
    assertThat(cases).isGreaterThanOrEqualTo(200);
  }

  private static void agrees(ScipyCase scipy, double... ours) {
    assertThat(ours).as(scipy.toString()).hasSameSizeAs(scipy.expected());
    for (int i = 0; i < ours.length; i++) {
      double expected = scipy.expected()[i];
      assertThat(ours[i])
          .as("value %d of %s", i, scipy)
          .isCloseTo(expected, offset(ScipyCase.RELATIVE * Math.max(1e-6, Math.abs(expected))));
    }
  }
}
