package io.steelyard.stats;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class FamilyVerdictsTest {
  private static final double MARGIN = 0.02;

  private static FamilyVerdicts.Ratio ratio(double[] subject, double[] baseline) {
    return level -> Intervals.ratio(subject, baseline, true, level, 1);
  }

  /** Forks around a mean, with a deviation of two per cent. */
  private static double[] forks(SplittableRandom random, int count, double mean) {
    return IntStream.range(0, count)
        .mapToDouble(i -> mean * (1 + 0.02 * random.nextGaussian()))
        .toArray();
  }

  @Test
  void runsWithoutADifferenceSayNoneInMoreThanNinetyNineOfAHundred() {
    SplittableRandom random = new SplittableRandom(5);
    for (int forks : new int[] {3, 5}) {
      int alarms = 0;
      int alone = 0;
      for (int run = 0; run < 300; run++) {
        int count = forks;
        List<FamilyVerdicts.Ratio> family =
            IntStream.range(0, 5)
                .mapToObj(i -> ratio(forks(random, count, 100), forks(random, count, 100)))
                .toList();
        alarms += differ(FamilyVerdicts.of(family, 0)) ? 1 : 0;
        alone += family.stream().anyMatch(r -> differ(FamilyVerdicts.of(List.of(r), 0))) ? 1 : 0;
      }
      // Three expected at most, and three deviations; judged one by one, up to five times as many.
      assertThat(alarms).as("%d forks", forks).isLessThanOrEqualTo(8);
      assertThat(alone).as("%d forks, one by one", forks).isGreaterThan(alarms);
    }
  }

  private static boolean differ(List<Verdict> verdicts) {
    return verdicts.contains(Verdict.FASTER) || verdicts.contains(Verdict.SLOWER);
  }

  @Test
  void largeDifferencesAreFoundAmongMany() {
    SplittableRandom random = new SplittableRandom(6);
    List<FamilyVerdicts.Ratio> family =
        List.of(
            ratio(forks(random, 5, 100), forks(random, 5, 100)),
            ratio(forks(random, 5, 160), forks(random, 5, 100)),
            ratio(forks(random, 5, 60), forks(random, 5, 100)),
            ratio(forks(random, 5, 130), forks(random, 5, 100)));

    assertThat(FamilyVerdicts.of(family, MARGIN))
        .containsExactly(Verdict.INCONCLUSIVE, Verdict.FASTER, Verdict.SLOWER, Verdict.FASTER);
  }

  @Test
  void aDecidedRatioMakesRoomForTheNext() {
    // Clears the margin at 99.5 %, not at 99.75 %.
    FamilyVerdicts.Ratio weak =
        level -> Optional.of(new Interval(1.1, level > 0.996 ? 1.01 : 1.03, 1.2, level));
    FamilyVerdicts.Ratio strong = level -> Optional.of(new Interval(2, 1.9, 2.1, level));
    FamilyVerdicts.Ratio none = level -> Optional.of(new Interval(1, 0.9, 1.1, level));

    assertThat(FamilyVerdicts.of(List.of(weak, strong, none, none), MARGIN))
        .startsWith(Verdict.INCONCLUSIVE, Verdict.FASTER);
    assertThat(FamilyVerdicts.of(List.of(weak, strong, none), MARGIN))
        .containsExactly(Verdict.FASTER, Verdict.FASTER, Verdict.INCONCLUSIVE);
  }

  @Test
  void equivalenceKeepsItsNinetyFivePerCent() {
    FamilyVerdicts.Ratio same =
        level -> Optional.of(new Interval(1, level > 0.96 ? 0.9 : 0.99, 1.01, level));
    FamilyVerdicts.Ratio unknown = _ -> Optional.empty();

    assertThat(FamilyVerdicts.of(List.of(same, unknown), MARGIN))
        .containsExactly(Verdict.EQUIVALENT, Verdict.INCONCLUSIVE);
    assertThat(FamilyVerdicts.of(List.of(), MARGIN)).isEmpty();
  }
}
