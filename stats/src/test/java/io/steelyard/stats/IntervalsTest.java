package io.steelyard.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Locale;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class IntervalsTest {

  private static final long SEED = 42;
  private static final double ROUNDING = 1e-12;

  private static Sample normal(int forks, int trials, double mean, long seed) {
    RandomGenerator random = Seeds.generator(seed);
    double[][] values = new double[forks][trials];
    for (double[] fork : values) {
      double level = random.nextGaussian(mean, 0.02 * mean);
      for (int trial = 0; trial < trials; trial++) {
        fork[trial] = level + random.nextGaussian(0, 0.01 * mean);
      }
    }
    return Sample.of(values);
  }

  private static double width(Interval interval) {
    return interval.high() - interval.low();
  }

  @Test
  void standardErrorIsTheOneBehindStudentsInterval() {
    double[] values = {9, 12, 15, 11};

    assertThat(StudentT.interval(values, 0.9).standardError(4))
        .isCloseTo(Moments.standardDeviation(values) / 2, within(ROUNDING));
  }

  @Test
  void oneForkAllowsNoInterval() {
    Sample one = Sample.of(new double[][] {{1, 2, 3}});

    assertThat(Intervals.mean(one, SEED)).isEmpty();
    assertThat(Intervals.ratio(one, one, true, SEED)).isEmpty();
  }

  @Test
  void threeForksGetStudentsInterval() {
    Interval interval =
        Intervals.mean(Sample.of(new double[][] {{9, 11}, {12, 12}, {13, 15}}), SEED).orElseThrow();

    assertThat(interval.estimate()).isEqualTo(12);
    double half = 4.302652729749464 * 2 / Math.sqrt(3);
    assertThat(interval.low()).isCloseTo(12 - half, within(1e-9));
    assertThat(interval.high()).isCloseTo(12 + half, within(1e-9));
    assertThat(interval.level()).isEqualTo(0.95);
  }

  @Test
  void fourForksOfWhichTwoLieCloseGetStudentsInterval() {
    // Resamples of the close pair alone have next to no spread, and there are enough for a tail.
    Sample sample = Sample.ofForks(100, 100.001, 103, 96);

    assertThat(Intervals.mean(sample, SEED))
        .contains(StudentT.interval(sample.forkMeans(), Intervals.LEVEL));
  }

  @Test
  void theHigherTheLevelTheMoreForksTheBootstrapAsksFor() {
    Sample five = normal(5, 3, 100, 2);
    Sample seven = normal(7, 3, 100, 2);

    assertThat(bootstrap(five, 0.95)).isPresent();
    assertThat(bootstrap(five, 0.995)).isEmpty();
    assertThat(bootstrap(seven, 0.995)).isPresent();
  }

  @Test
  void showsTheWiderOfStudentAndBootstrapBelowThirtyForks() {
    boolean bootstrapWasWider = false;
    boolean studentWasWider = false;
    for (int seed = 0; seed < 40; seed++) {
      Sample sample = normal(8, 3, 100, seed);
      Interval student = StudentT.interval(sample.forkMeans(), 0.95);
      Interval bootstrap = bootstrap(sample, 0.95).orElseThrow();
      Interval shown = Intervals.mean(sample, SEED).orElseThrow();

      assertThat(shown).isEqualTo(width(bootstrap) > width(student) ? bootstrap : student);
      bootstrapWasWider |= shown.equals(bootstrap);
      studentWasWider |= shown.equals(student);
    }
    assertThat(bootstrapWasWider && studentWasWider).as("both kinds were seen").isTrue();
  }

  @Test
  void showsTheBootstrapFromThirtyForksOn() {
    Sample sample = normal(30, 3, 100, 3);

    assertThat(Intervals.mean(sample, SEED)).isEqualTo(bootstrap(sample, 0.95));
  }

  @Test
  void sameSeedGivesSameInterval() {
    Sample sample = normal(12, 4, 100, 1);

    assertThat(Intervals.mean(sample, 7)).isEqualTo(Intervals.mean(sample, 7));
  }

  @Test
  void bootstrapFollowsTheSkewThatStudentCannot() {
    RandomGenerator random = Seeds.generator(11);
    double[] skewed = random.doubles(40).map(u -> Math.exp(-Math.log(u))).toArray();

    Interval interval = Intervals.mean(Sample.ofForks(skewed), SEED).orElseThrow();

    assertThat(interval.high() - interval.estimate())
        .as("the long tail is above")
        .isGreaterThan(2 * (interval.estimate() - interval.low()));
  }

  @Test
  void ratioIsGeometricMeanOfPairedRatios() {
    double[] subject = {2, 8, 4};
    double[] baseline = {1, 1, 1};

    Interval ratio = Intervals.ratio(subject, baseline, true, SEED).orElseThrow();

    assertThat(ratio.estimate()).isCloseTo(4, within(ROUNDING));
    double half = 4.302652729749464 * Math.log(2) / Math.sqrt(3);
    assertThat(Math.log(ratio.high())).isCloseTo(Math.log(4) + half, within(1e-9));
    assertThat(Math.log(ratio.low())).isCloseTo(Math.log(4) - half, within(1e-9));
  }

  @Test
  void ratioIsTurnedSoThatAboveOneIsBetter() {
    double[] slow = {200, 202, 199};
    double[] fast = {100, 101, 100};

    assertThat(Intervals.ratio(fast, slow, false, SEED).orElseThrow().low())
        .as("half the time is better")
        .isGreaterThan(1.9);
    assertThat(Intervals.ratio(fast, slow, true, SEED).orElseThrow().high())
        .as("half the rate is worse")
        .isLessThan(0.6);
  }

  @Test
  void pairingRemovesWhatBothSidesOfABlockShare() {
    double[] baseline = {100, 150, 80, 120, 95, 140};
    double[] subject = new double[baseline.length];
    double[] noise = {0.001, -0.002, 0.0015, 0, -0.001, 0.0005};
    for (int i = 0; i < subject.length; i++) {
      subject[i] = 1.1 * baseline[i] * (1 + noise[i]);
    }

    Interval ratio = Intervals.ratio(subject, baseline, true, SEED).orElseThrow();

    assertThat(ratio.low()).isGreaterThan(1.095);
    assertThat(ratio.high()).isLessThan(1.105);
  }

  @Test
  void equalForksGiveAnIntervalWithoutWidth() {
    Sample equal = Sample.of(new double[][] {{5, 5}, {5, 5}, {5, 5}, {5, 5}});

    assertThat(Intervals.mean(equal, SEED)).contains(new Interval(5, 5, 5, 0.95));
    assertThat(Intervals.ratio(equal, equal, true, SEED)).contains(new Interval(1, 1, 1, 0.95));
  }

  @Test
  void heavyTiesFallBackOnStudent() {
    // A third of the resamples are five equal values: one bootstrap bound would be infinite.
    double[] tied = {5, 5, 5, 5, 6};

    assertThat(Intervals.mean(Sample.ofForks(tied), SEED)).contains(StudentT.interval(tied, 0.95));
  }

  @Test
  void tooHighALevelForTheResamplesFallsBackOnStudent() {
    Sample sample = normal(40, 3, 100, 5);

    assertThat(Intervals.mean(sample, 0.99999, SEED))
        .contains(StudentT.interval(sample.forkMeans(), 0.99999));
  }

  @Test
  void higherLevelIsWider() {
    Sample sample = normal(10, 3, 100, 9);

    double usual = width(Intervals.mean(sample, 0.95, SEED).orElseThrow());
    double higher = width(Intervals.mean(sample, 0.99, SEED).orElseThrow());

    assertThat(higher).isGreaterThan(usual);
  }

  @Test
  void refusesWhatHasNoRatio() {
    double[] good = {1, 2, 3};
    assertThatThrownBy(() -> Intervals.ratio(good, new double[] {1, 2}, true, SEED))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("3 forks and the baseline 2");
    assertThatThrownBy(() -> Intervals.ratio(new double[] {1, 0, 2}, good, true, SEED))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("subject fork 1[0] is 0.0");
    assertThatThrownBy(() -> Intervals.ratio(good, new double[] {1, 2, -1}, true, SEED))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("baseline fork 2[0] is -1.0");
    assertThatThrownBy(() -> Intervals.mean(Sample.ofForks(1, 2), 95, SEED))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("confidence level 95.0");
  }

  @Test
  void meanOfZerosAndNegativesIsAllowed() {
    Optional<Interval> interval = Intervals.mean(Sample.ofForks(-1, 0, 1), SEED);

    assertThat(interval.orElseThrow().estimate()).isZero();
  }

  /** Prints the times of docs/statistics.md; a time is no reason for a test to fail. */
  @Test
  @Tag("soak")
  void bootstrapOfTenForksOfTwentyTrialsIsTimed() {
    Sample subject = normal(10, 20, 100, 1);
    Sample baseline = normal(10, 20, 103, 2);
    double[] means = new double[40];
    double[] ratios = new double[40];
    for (int i = 0; i < means.length; i++) {
      long start = System.nanoTime();
      bootstrap(subject, 0.95);
      means[i] = (System.nanoTime() - start) / 1e6;
      start = System.nanoTime();
      Intervals.ratio(subject, baseline, true, SEED);
      ratios[i] = (System.nanoTime() - start) / 1e6;
    }
    System.out.printf(
        Locale.ROOT,
        "10,000 resamples: mean %.1f ms (first %.1f), ratio %.1f ms (first %.1f)%n",
        Quantiles.median(means),
        means[0],
        Quantiles.median(ratios),
        ratios[0]);
    assertThat(bootstrap(subject, 0.95)).isPresent();
  }

  private static Optional<Interval> bootstrap(Sample sample, double level) {
    return StudentisedBootstrap.interval(
        sample.forkMeans(), sample::resampledForkMean, level, Intervals.RESAMPLES, SEED);
  }
}
