package io.steelyard.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SequentialPlanTest {
  /** Looks from the third block on, or at the last of fewer, that hold together at 95 %. */
  private static SequentialPlan upTo(int lastLook) {
    return SequentialPlan.of(
        Math.min(SequentialPlan.FIRST_LOOK, lastLook), lastLook, Intervals.LEVEL);
  }

  @Test
  void oneLookHasTheWholeLevel() {
    assertThat(upTo(3).levelAt(3)).isCloseTo(0.95, within(1e-12));
    assertThat(upTo(2).levelAt(2)).isCloseTo(0.95, within(1e-12));
  }

  @Test
  void firstLookSpendsItsShareOfTheSquare() {
    assertThat(upTo(10).levelAt(3)).isCloseTo(1 - 0.05 * 0.09, within(1e-12));
  }

  /** Two looks can be checked by a calculation that shares nothing with the grid: simulation. */
  @ParameterizedTest
  @ValueSource(ints = {4, 5, 8, 12, 30})
  void intervalsOfAllLooksMissTogetherInFivePercent(int blocks) {
    SequentialPlan plan = upTo(blocks);
    double[] boundaries = new double[blocks + 1];
    for (int look = plan.firstLook(); look <= blocks; look++) {
      boundaries[look] = StudentT.critical(look, plan.levelAt(look));
    }

    double missed = missRate(boundaries, plan.firstLook(), 200_000, blocks);

    // Four standard errors of 200,000 simulated studies are 0.002.
    assertThat(missed).isCloseTo(0.05, within(0.002));
  }

  /** As where time is what is spent, and a disturbed block takes twice as much of it. */
  @Test
  void looksAtUnevenTimesMissTogetherInFivePercent() {
    List<Double> shares = List.of(0.2, 0.25, 0.5, 0.55, 0.9, 1.0);
    SequentialPlan plan = SequentialPlan.spending(3, shares, 0.95);
    double[] boundaries = new double[9];
    for (int look = 3; look <= 8; look++) {
      boundaries[look] = StudentT.critical(look, plan.levelAt(look));
    }

    assertThat(missRate(boundaries, 3, 200_000, 6)).isCloseTo(0.05, within(0.002));
    assertThat(plan.levelAt(3)).isCloseTo(1 - 0.05 * 0.04, within(1e-12));
    assertThat(plan.levelAt(5))
        .as("the longer the wait, the more is spent")
        .isLessThan(plan.levelAt(4));
  }

  @Test
  void aLookThatNoTimeWentBeforeHasAnInterval() {
    SequentialPlan plan = SequentialPlan.spending(3, List.of(1.0, 1.0), 0.95);

    assertThat(plan.levelAt(3)).isCloseTo(0.95, within(1e-12));
    assertThat(plan.levelAt(4)).isBetween(0.96, 1 - 1e-9);
  }

  @Test
  void sharesRise() {
    for (List<Double> shares :
        List.of(List.of(0.5, 0.4), List.of(0.0), List.of(1.1), List.of(Double.NaN))) {
      assertThatThrownBy(() -> SequentialPlan.spending(3, shares, 0.95))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("must rise within (0, 1]");
    }
  }

  @Test
  void fullLevelAtEveryLookWouldMissFarTooOften() {
    double[] boundaries = new double[13];
    for (int look = 3; look <= 12; look++) {
      boundaries[look] = StudentT.critical(look, 0.95);
    }

    assertThat(missRate(boundaries, 3, 50_000, 1)).isGreaterThan(0.12);
  }

  private static double missRate(double[] boundaries, int firstLook, int studies, long seed) {
    RandomGenerator random = Seeds.generator(seed);
    int missed = 0;
    for (int study = 0; study < studies; study++) {
      double sum = 0;
      double squares = 0;
      for (int n = 1; n < boundaries.length; n++) {
        double value = random.nextGaussian();
        sum += value;
        squares += value * value;
        if (n >= firstLook) {
          double variance = (squares - sum * sum / n) / (n - 1);
          if (Math.abs(sum) > boundaries[n] * Math.sqrt(n * variance)) {
            missed++;
            break;
          }
        }
      }
    }
    return (double) missed / studies;
  }

  /**
   * What the lab does: look after every block from the third, stop when the verdict is settled, and
   * show the interval of that look. Two labels of the same engine, log-normal forks.
   */
  @Test
  void stoppingWhenSettledMissesAndAlarmsInAtMostFivePercent() {
    int blocks = 8;
    int studies = 3000;
    SequentialPlan plan = upTo(blocks);
    RandomGenerator random = Seeds.generator(2025);
    int uncovered = 0;
    int early = 0;
    for (int study = 0; study < studies; study++) {
      double[][] subject = forks(random, blocks);
      double[][] baseline = forks(random, blocks);
      for (int look = plan.firstLook(); look <= blocks; look++) {
        Interval ratio =
            Intervals.ratio(
                    Sample.of(Arrays.copyOf(subject, look)),
                    Sample.of(Arrays.copyOf(baseline, look)),
                    true,
                    plan.levelAt(look),
                    999,
                    study)
                .orElseThrow();
        // A margin of 0 makes every interval that misses the true ratio of 1 an alarm.
        Verdict alarm = Verdict.of(ratio, 0);
        boolean settled = Verdict.of(ratio, 0.03) == Verdict.EQUIVALENT;
        if (alarm != Verdict.INCONCLUSIVE || settled || look == blocks) {
          uncovered += ratio.low() > 1 || ratio.high() < 1 ? 1 : 0;
          early += look < blocks ? 1 : 0;
          break;
        }
      }
    }
    assertThat(early).as("studies that stopped early").isGreaterThan(studies / 4);
    assertThat((double) uncovered / studies).isLessThanOrEqualTo(0.05);
  }

  /** Prints the table of equal engines in docs/statistics.md. */
  @Test
  @Tag("soak")
  void studiesOfEqualEnginesAlarmAndMissAsSeldomAsTheLevelsSay() {
    int studies = 10_000;
    for (int blocks : new int[] {6, 12, 30}) {
      for (int ratios : new int[] {1, 5}) {
        for (double between : new double[] {0.01, 0.03, 0.08}) {
          double[] truths = new double[ratios];
          Arrays.fill(truths, 1);
          // Both sides vary.
          double noise = between * Math.sqrt(2);
          SequentialStudy.Rates rates =
              new SequentialStudy(blocks, truths, noise, true, 0).rates(studies, blocks + ratios);
          System.out.printf(
              Locale.ROOT,
              "| %d | %d | %.0f %% | %s | %s | %s | %.0f %% | %.1f |%n",
              blocks,
              ratios,
              100 * between,
              SequentialStudy.percent(rates.families()),
              SequentialStudy.percent(rates.alarms()),
              SequentialStudy.percent(rates.missed()),
              100 * rates.equivalent(),
              rates.blocks());

          String study = "%d blocks, %d ratios, %s".formatted(blocks, ratios, between);
          assertThat(rates.families()).as(study).isLessThanOrEqualTo(0.01);
          assertThat(rates.alarms()).as(study).isLessThanOrEqualTo(0.005);
          assertThat(rates.missed()).as(study).isLessThanOrEqualTo(0.05);
        }
      }
    }
  }

  /** Prints what docs/statistics.md says of the procedure with the bootstrap. */
  @Test
  @Tag("soak")
  void studiesWithTheBootstrapAlarmAndMissAsSeldom() {
    double noise = 0.03 * Math.sqrt(2);
    SequentialStudy.Rates rates =
        new SequentialStudy(12, new double[] {1}, noise, true, Intervals.RESAMPLES).rates(1000, 7);
    System.out.printf(
        Locale.ROOT,
        "with the bootstrap: wrong verdicts %s, missed %s%n",
        SequentialStudy.percent(rates.families()),
        SequentialStudy.percent(rates.missed()));

    assertThat(rates.families()).isLessThanOrEqualTo(0.01);
    assertThat(rates.missed()).isLessThanOrEqualTo(0.05);
  }

  /**
   * Prints the table of the hardest case in docs/statistics.md: engines that differ by just the
   * margin, so that every {@code faster} is wrong.
   */
  @Test
  @Tag("soak")
  void studiesOfEnginesOnTheMarginAlarmAsSeldomAsTheLevelsSay() {
    int studies = 10_000;
    for (int blocks : new int[] {6, 12, 30}) {
      for (int ratios : new int[] {1, 5}) {
        double[] truths = new double[ratios];
        Arrays.fill(truths, 1 + SequentialStudy.MARGIN);
        SequentialStudy.Rates rates =
            new SequentialStudy(blocks, truths, 0.01, false, 0).rates(studies, blocks + ratios);
        System.out.printf(
            Locale.ROOT,
            "| %d | %d | %s | %s |%n",
            blocks,
            ratios,
            SequentialStudy.percent(rates.families()),
            SequentialStudy.percent(rates.missed()));

        String study = "%d blocks, %d ratios".formatted(blocks, ratios);
        // The level, and three standard errors of a share of 10,000.
        assertThat(rates.families()).as(study).isLessThanOrEqualTo(0.013);
        assertThat(rates.missed()).as(study).isLessThanOrEqualTo(0.0565);
      }
    }
  }

  /** Prints the table of power in docs/statistics.md: a difference of 4 % against 2 %. */
  @Test
  @Tag("soak")
  void differencesOfFourPerCentAreFoundAsSoonAsTheDocumentationSays() {
    int studies = 4_000;
    for (int ratios : new int[] {1, 5}) {
      for (int blocks : new int[] {6, 12, 30, 60}) {
        StringBuilder row = new StringBuilder("| %d | %d |".formatted(ratios, blocks));
        for (double noise : new double[] {0.005, 0.01, 0.02, 0.04}) {
          double[] truths = new double[ratios];
          Arrays.fill(truths, 1);
          truths[0] = 1.04;
          int[] decided =
              new SequentialStudy(blocks, truths, noise, false, 0).decidedAfter(studies, blocks);
          int enough = decided[studies * 95 / 100 - 1];
          long found = Arrays.stream(decided).filter(at -> at <= blocks).count();
          row.append(
              enough <= blocks
                  ? " %d |".formatted(enough)
                  : " – (%d %%) |".formatted(Math.round(100.0 * found / studies)));
          if (noise == 0.005 && blocks == 12) {
            assertThat(enough).isLessThanOrEqualTo(8);
          }
        }
        System.out.println(row);
      }
    }
  }

  /** Prints the time of the plans of a family of five with thirty blocks, for the documentation. */
  @Test
  @Tag("soak")
  void plansOfAFamilyAreMadeInAFractionOfASecond() {
    long start = System.nanoTime();
    for (int undecided = 1; undecided <= 5; undecided++) {
      SequentialPlan.of(3, 30, FamilyVerdicts.levelOf(undecided));
    }
    SequentialPlan.of(3, 30, Intervals.LEVEL);
    long milliseconds = (System.nanoTime() - start) / 1_000_000;
    System.out.println("six plans of thirty blocks, cold: " + milliseconds + " ms");
  }

  private static double[][] forks(RandomGenerator random, int blocks) {
    double[][] forks = new double[blocks][3];
    for (double[] fork : forks) {
      double level = random.nextGaussian(0, 0.012);
      for (int trial = 0; trial < fork.length; trial++) {
        fork[trial] = 50 * Math.exp(level + random.nextGaussian(0, 0.01));
      }
    }
    return forks;
  }

  @Test
  void otherLevelsAndFirstLooksAreAllowed() {
    SequentialPlan plan = SequentialPlan.of(5, 9, 0.99);

    assertThat(plan.firstLook()).isEqualTo(5);
    assertThat(plan.lastLook()).isEqualTo(9);
    for (int look = 5; look <= 9; look++) {
      assertThat(plan.levelAt(look)).isBetween(0.99, 1.0);
    }
  }

  @Test
  void refusesLooksThatAreNotPlanned() {
    assertThatThrownBy(() -> upTo(5).levelAt(6))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("from block 3 to block 5, not at block 6");
    assertThatThrownBy(() -> upTo(1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("needs two blocks");
    assertThatThrownBy(() -> upTo(201))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("at most 200");
  }
}
