package io.steelyard.reports;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.lab.record.Summary;
import io.steelyard.lab.record.Summary.Comparison;
import java.util.List;
import org.junit.jupiter.api.Test;

class HeadlinesTest {

  @Test
  void sayRatioIntervalAndBothSides() {
    assertThat(headline(SampleRun.comparison("pp512", "fast", 1.84, 1.8, 1.88, "faster", "")))
        .isEqualTo("fast is 1.84× [1.80, 1.88] as fast as llamacpp at pp512.");
  }

  @Test
  void sayHowManyBytesAreNeededRatherThanTheTurnedRatio() {
    assertThat(headline(SampleRun.comparison("memory", "big", 0.5, 0.48, 0.52, "slower", "")))
        .isEqualTo("big needs 2.00× [1.92, 2.08] as many bytes as llamacpp at memory.");
  }

  @Test
  void nameTheMarginOfEquivalence() {
    assertThat(headline(SampleRun.comparison("tg64", "s", 1.002, 0.99, 1.014, "equivalent", "")))
        .isEqualTo(
            "s is 1.002× [0.990, 1.014] as fast as llamacpp at tg64: equivalent, within ±2 %.");
  }

  @Test
  void sayWhyNothingCanBeSaid() {
    assertThat(
            headline(
                SampleRun.comparison(
                    "tg64", "s", 1.0, 0.9, 1.1, "inconclusive", "7 more forks would settle it")))
        .endsWith(": inconclusive (7 more forks would settle it).");
    assertThat(
            headline(
                SampleRun.comparison(
                    "tg64", "s", 1.0, 0.9, 1.1, "not comparable", "weights differ")))
        .isEqualTo("s and llamacpp are not comparable at tg64: weights differ.");
    assertThat(
            headline(
                SampleRun.comparison(
                    "tg64", "s", null, null, null, "not comparable", "the worker died")))
        .isEqualTo("No ratio of s and llamacpp at tg64: the worker died.");
  }

  @Test
  void keepTheNoteOfAClearVerdict() {
    assertThat(
            headline(
                SampleRun.comparison(
                    "pp512", "s", 1.8, 1.7, 1.9, "faster", "s varies by 30 % between processes")))
        .isEqualTo(
            "s is 1.80× [1.70, 1.90] as fast as llamacpp at pp512 (s varies by 30 % between"
                + " processes).");
  }

  @Test
  void sayWhoReachedNoSteadyState() {
    // In the typical run, steelyard's load never settles.
    assertThat(headline(SampleRun.comparison("load", "steelyard", 0.5, 0.48, 0.52, "slower", "")))
        .endsWith(" at load (steelyard reached no steady state).");
    assertThat(headline(SampleRun.comparison("load", "other", 0.5, 0.48, 0.52, "slower", "")))
        .endsWith(" at load.");
  }

  @Test
  void sayThatThereIsNoIntervalAndThatWeightsAreRandom() {
    assertThat(headline(SampleRun.comparison("tg64", "s", 3.0, null, null, "inconclusive", "")))
        .isEqualTo(
            "s is 3.00× as fast as llamacpp at tg64: inconclusive (no interval from 5 blocks).");
    assertThat(Headlines.of(SampleRun.withRandomWeights(), 0.02))
        .isNotEmpty()
        .allSatisfy(sentence -> assertThat(sentence).endsWith("random weights)."));
  }

  private static String headline(Comparison comparison) {
    Summary typical = SampleRun.typical().summary();
    Summary one =
        new Summary(
            typical.schema(),
            typical.run(),
            typical.model(),
            typical.weights(),
            typical.cells(),
            List.of(comparison),
            List.of(),
            List.of());
    return Headlines.of(one, 0.02).getFirst();
  }
}
