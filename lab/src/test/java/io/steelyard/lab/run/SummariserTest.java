package io.steelyard.lab.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.steelyard.lab.TestData;
import io.steelyard.lab.parity.EngineParity;
import io.steelyard.lab.parity.FairnessSheet;
import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Entry.Role;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.Perplexity;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.stats.Interval;
import io.steelyard.stats.Intervals;
import io.steelyard.stats.SequentialPlan;
import io.steelyard.stats.Verdict;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class SummariserTest {
  private static final long MILLION = 1_000_000;

  /** A few divisions and logarithms. */
  private static final double ROUNDING = 1e-9;

  private Study study = TestData.study(List.of("prefill"), "base", "engine");
  private final List<Entry> journal = new ArrayList<>();
  private final Map<String, EngineParity> engines = new LinkedHashMap<>();
  private final List<Summary.Parity> parity = new ArrayList<>();

  private Summary summary() {
    if (engines.isEmpty()) {
      study.engines().keySet().forEach(label -> engines.put(label, TestData.parity(label)));
    }
    return new Summariser(
            study, engines, parity, FairnessSheet.of(study, List.copyOf(engines.values())), journal)
        .summarise("run");
  }

  private Summary.Comparison comparison() {
    return summary().comparisons().getFirst();
  }

  private void trials(int block, String cell, long... nanos) {
    journal.add(TestData.forkStart(block, 1, cell, 1, false));
    for (int i = 0; i < nanos.length; i++) {
      journal.add(TestData.call(block, 1, cell, 1, Role.TRIAL, i, 512, nanos[i], true));
    }
    journal.add(TestData.forkEnd(block, 1, cell, 1, ""));
  }

  /** Blocks in which a trial takes these milliseconds. */
  private void blocks(double[] base, double[] engine) {
    for (int block = 1; block <= base.length; block++) {
      journal.add(TestData.blockStart(block, 1));
      trials(block, "base/pp512", (long) (base[block - 1] * MILLION));
      trials(block, "engine/pp512", (long) (engine[block - 1] * MILLION));
      journal.add(TestData.blockEnd(block, 1, ""));
    }
  }

  private void load(int block, String label, long loadNanos) {
    String cell = label + "/start";
    Entry.ForkStart start = TestData.forkStart(block, 1, cell, 1, false);
    journal.add(
        new Entry.ForkStart(
            block,
            1,
            cell,
            1,
            start.pid(),
            start.hosted(),
            start.build(),
            start.runtimeNanos(),
            loadNanos,
            start.loadOutsideNanos(),
            start.phases(),
            start.readyBytes(),
            start.settings()));
    journal.add(TestData.forkEnd(block, 1, cell, 1, ""));
  }

  @Test
  void halfTheTimeIsTwiceTheRate() {
    blocks(new double[] {1_000, 1_001, 999}, new double[] {500, 500.5, 499.5});

    Summary.Comparison comparison = comparison();

    assertThat(comparison.metric()).isEqualTo("pp512");
    assertThat(comparison.subject()).isEqualTo("engine");
    assertThat(comparison.baseline()).isEqualTo("base");
    assertThat(comparison.ratio()).isCloseTo(2, within(ROUNDING));
    assertThat(comparison.low()).isCloseTo(2, within(ROUNDING));
    assertThat(comparison.high()).isCloseTo(2, within(ROUNDING));
    assertThat(comparison.verdict()).isEqualTo("faster");
    assertThat(comparison.blocks()).isEqualTo(3);
    assertThat(comparison.note()).isEmpty();
  }

  @Test
  void theLooksOfAnAdaptiveRunAreAllowedFor() {
    double[] base = {1_000, 1_010, 990, 1_000};
    double[] engine = {800, 800, 810, 790};
    blocks(base, engine);
    study = study.toBuilder().design(adaptive(10, 3)).build();
    double level = SequentialPlan.of(3, 10, 0.95).levelAt(4);
    Interval expected = Intervals.ratio(engine, base, false, level, 42).orElseThrow();

    assertThat(comparison().low()).isCloseTo(expected.low(), within(ROUNDING));
    assertThat(comparison().high()).isCloseTo(expected.high(), within(ROUNDING));
  }

  @Test
  void trialsFarOutCountUnlessTheyAreToBeDropped() {
    double[] base = {1_000, 1_002, 998, 1_001, 999};
    double[] engine = {500, 501, 499, 9_000, 500};
    blocks(base, engine);

    assertThat(comparison().blocks()).isEqualTo(5);
    assertThat(comparison().ratio()).isLessThan(1.5);

    study = study.toBuilder().design(study.design().droppingOutliers(true)).build();

    assertThat(comparison().blocks()).as("the block without a trial goes").isEqualTo(4);
    assertThat(comparison().ratio()).isCloseTo(2, within(0.01));
    assertThat(summary().cells().getLast().trials()).isEqualTo(4);
  }

  @Test
  void aMetricMayBeJudgedByItsOwnMargin() {
    blocks(new double[] {1_000, 1_001, 999}, new double[] {970, 971, 969});

    assertThat(comparison().verdict()).isEqualTo("faster");

    study = study.toBuilder().design(study.design().margins(Map.of("prefill", 0.05))).build();

    assertThat(comparison().verdict()).isEqualTo("equivalent");
    assertThat(comparison().note()).isEqualTo("judged by a margin of 5 %");
  }

  @Test
  void theLooksOfARunThatItsBudgetEndedSpendWhatWasSpentOfIt() {
    double[] base = {1_000, 1_010, 990, 1_000};
    double[] engine = {800, 800, 810, 790};
    blocks(base, engine);
    journal.add(TestData.blockEnd(3, 1, "", 0.7));
    study = study.toBuilder().design(adaptive(200, 3)).build();
    double level = SequentialPlan.spending(3, List.of(0.7, 0.7), 0.95).levelAt(4);
    Interval early = Intervals.ratio(engine, base, false, level, 42).orElseThrow();

    assertThat(comparison().low()).isCloseTo(early.low(), within(ROUNDING));

    journal.add(TestData.blockEnd(4, 1, "", 1));
    double last = SequentialPlan.spending(3, List.of(0.7, 1.0), 0.95).levelAt(4);
    Interval end = Intervals.ratio(engine, base, false, last, 42).orElseThrow();

    assertThat(comparison().low()).isCloseTo(end.low(), within(ROUNDING));
    assertThat(end.low())
        .as("what is left of the 5 % belongs to the end")
        .isGreaterThan(early.low());
  }

  private Study.Design adaptive(int forks, int mostTrials) {
    return adaptive(forks, mostTrials, study.design().budgetSeconds());
  }

  private Study.Design adaptive(int forks, int mostTrials, double budget) {
    Study.Design design = study.design();
    return new Study.Design(
            forks,
            design.trials(),
            design.warmUpCap(),
            design.warmUpSeconds(),
            budget,
            design.margin(),
            design.seed())
        .adapting(new Study.Adaptive(0.01, mostTrials));
  }

  private Look look() {
    return Look.at(study, summary(), journal);
  }

  @Test
  void aLookSaysWhatIsSettledAndHowItStands() {
    Workload prefill = Workload.prefill(512, 0);
    study = study.toBuilder().design(adaptive(10, 3)).build();
    blocks(new double[] {1_000, 1_001, 999}, new double[] {500, 500.5, 499.5});

    assertThat(look().settled()).containsExactly(prefill);
    assertThat(look().standing().get(prefill)).containsExactly("pp512 2.00× [2.00, 2.00]");
    assertThat(look().trials()).as("of single trials there is no spread").isEmpty();

    journal.clear();
    blocks(new double[] {1_000, 1_100, 900}, new double[] {950, 1_200, 870});

    assertThat(look().settled()).as("%s", comparison()).isEmpty();
  }

  @Test
  void aRatioThatIsPreciseIsSettledThoughItLiesOnTheMargin() {
    study = study.toBuilder().design(adaptive(10, 3)).build();
    blocks(new double[] {1_000, 1_000.1, 999.9}, new double[] {980.3, 980.3, 980.3});

    assertThat(comparison().verdict()).isEqualTo("inconclusive");
    assertThat(look().settled()).isNotEmpty();
  }

  @Test
  void aDesignThatIsFixedIsFollowedWhateverIsSeen() {
    blocks(new double[] {1_000, 1_001, 999}, new double[] {500, 500.5, 499.5});

    assertThat(look().settled()).isEmpty();
    assertThat(look().trials()).isEmpty();
    assertThat(look().standing()).isNotEmpty();
  }

  @Test
  void shortCallsGetMoreTrialsFromTheFirstBlockOn() {
    study = study.toBuilder().design(adaptive(10, 20, 600)).build();

    // A start takes a second: with 100 ms a call that is 22 calls before the first trial.
    assertThat(trialsAtFirst(100_000_000)).isEqualTo(9);
    assertThat(trialsAtFirst(10_000_000)).as("the most there may be").isEqualTo(20);
    assertThat(trialsAtFirst(10_000_000_000L))
        .as("where the budget has no room for more")
        .isEqualTo(study.design().trials());
  }

  private int trialsAtFirst(long nanos) {
    EngineParity engine = TestData.estimating(TestData.parity("a"), "pp512", nanos);
    return Look.atFirst(study, Map.of("a", engine)).trials().get(Workload.prefill(512, 0));
  }

  @Test
  void aNumberOfTrialsThatIsGivenStaysFromTheFirstBlockOn() {
    EngineParity engine = TestData.estimating(TestData.parity("a"), "pp512", 1_000_000);

    assertThat(Look.atFirst(study, Map.of("a", engine)).trials()).isEmpty();
  }

  @Test
  void moreTrialsPayWhereTheyScatterMoreThanTheirProcesses() {
    study = study.toBuilder().design(adaptive(10, 20, Study.Design.NO_BUDGET)).build();
    scatteringTrials(200, 0);
    int many = look().trials().get(Workload.prefill(512, 0));
    journal.clear();
    scatteringTrials(10, 100);
    int few = look().trials().get(Workload.prefill(512, 0));

    assertThat(many).isEqualTo(20);
    assertThat(few).isEqualTo(2);
  }

  @Test
  void thereAreNoMoreTrialsThanLeaveRoomForTenBlocks() {
    study = study.toBuilder().design(adaptive(10, 20, 160)).build();
    scatteringTrials(200, 0);

    // Two processes with trials of a second, and a start of some milliseconds each.
    assertThat(look().trials()).containsEntry(Workload.prefill(512, 0), 7);
  }

  /** Three blocks whose trials and whose processes differ by these milliseconds. */
  private void scatteringTrials(double trial, double process) {
    for (int block = 1; block <= 3; block++) {
      journal.add(TestData.blockStart(block, 1));
      long own = (long) ((1_000 + block * process) * MILLION);
      long off = (long) (trial * MILLION);
      trials(block, "base/pp512", own - off, own + off);
      trials(block, "engine/pp512", 1_000 * MILLION - off, 1_000 * MILLION + off);
      journal.add(TestData.blockEnd(block, 1, ""));
    }
  }

  @Test
  void aRatioOfTimesIsTurnedToo() {
    study = TestData.study(List.of("load"), "base", "engine");
    for (int block = 1; block <= 3; block++) {
      load(block, "base", 100 * MILLION);
      load(block, "engine", 400 * MILLION);
    }

    assertThat(comparison().ratio()).isCloseTo(0.25, within(ROUNDING));
    assertThat(comparison().verdict()).isEqualTo("slower");
    assertThat(summary().cells()).extracting(Summary.Cell::mean).containsExactly(100.0, 400.0);
    assertThat(summary().cells()).extracting(Summary.Cell::better).containsOnly("lower");
  }

  @Test
  void sidesThatHardlyDifferAreEquivalent() {
    blocks(
        new double[] {1_000, 1_001.3, 999.2, 1_000.4, 1_002.1},
        new double[] {1_000.2, 1_000.9, 1_000.1, 999.3, 1_001});

    assertThat(comparison().verdict()).isEqualTo("equivalent");
    assertThat(comparison().note()).isEmpty();
  }

  @Test
  void anUnclearRatioSaysHowManyForksWouldSettleIt() {
    blocks(new double[] {1_000, 1_040, 980, 1_010}, new double[] {900, 960, 1_020, 890});

    assertThat(comparison().verdict()).isEqualTo("inconclusive");
    assertThat(comparison().note()).matches("about \\d+ forks would settle it");
    assertThat(comparison().low()).isLessThan(comparison().ratio());
    assertThat(comparison().high()).isGreaterThan(comparison().ratio());
  }

  @Test
  void aRatioOnTheMarginCantBeSettled() {
    blocks(new double[] {1_000, 1_030, 990}, new double[] {980.4, 1_000, 980.4});

    assertThat(comparison().verdict()).isEqualTo("inconclusive");
    assertThat(comparison().note()).isEqualTo("too close to the margin for 200 forks to settle it");
  }

  @Test
  void tooFewBlocksSayHowManyAreNeeded() {
    blocks(new double[] {1_000}, new double[] {500});

    Summary.Comparison comparison = comparison();
    assertThat(comparison.verdict()).isEqualTo("inconclusive");
    assertThat(comparison.note()).isEqualTo("need ≥ 3 blocks");
    assertThat(comparison.low()).isNull();
    assertThat(comparison.high()).isNull();
    assertThat(comparison.blocks()).isEqualTo(1);
  }

  @Test
  void blocksArePairedAndTheUnpairedAreLeftOut() {
    blocks(new double[] {1_000, 1_000, 1_000}, new double[] {500, 500, 500});
    trials(4, "base/pp512", 10 * MILLION);

    assertThat(comparison().blocks()).isEqualTo(3);
    assertThat(comparison().ratio()).isCloseTo(2, within(ROUNDING));
    assertThat(summary().cells().getFirst().forks()).isEqualTo(4);
  }

  @Test
  void aSideThatVariesIsNoted() {
    blocks(new double[] {1_000, 2_000, 500}, new double[] {100, 100, 100});

    assertThat(comparison().note()).contains("base varies by 65 % between processes");
    assertThat(comparison().note()).doesNotContain("engine varies");
  }

  @Test
  void aSideThatFailedParityIsNotComparable() {
    blocks(new double[] {1_000, 1_000, 1_000}, new double[] {500, 500, 500});
    parity.add(
        new Summary.Parity(
            "engine",
            "model",
            "F32",
            true,
            1.0,
            1.0,
            0.0,
            9.0,
            Optional.empty(),
            1.0,
            false,
            "mean KL"));

    assertThat(comparison().verdict()).isEqualTo("not comparable");
    assertThat(comparison().note()).isEqualTo("engine failed parity");
  }

  @Test
  void anUnexplainedDifferenceIsNotComparable() {
    blocks(new double[] {1_000, 1_000, 1_000}, new double[] {500, 500, 500});
    engines.put("base", TestData.parity("base", TestData.settings("F32", "f16", 2)));
    engines.put("engine", TestData.parity("engine", TestData.settings("F32", "f32", 1)));

    assertThat(comparison().verdict()).isEqualTo("not comparable");
    assertThat(comparison().note()).isEqualTo("different: KV precision, threads");
    assertThat(comparison().ratio()).as("is shown all the same").isCloseTo(2, within(ROUNDING));
  }

  @Test
  void anAllowedDifferenceIsComparable() {
    study = study.toBuilder().allowed(List.of("KV precision")).build();
    blocks(new double[] {1_000, 1_000, 1_000}, new double[] {500, 500, 500});
    engines.put("base", TestData.parity("base", TestData.settings("F32", "f16", 2)));
    engines.put("engine", TestData.parity("engine", TestData.settings("F32", "f32", 2)));

    assertThat(comparison().verdict()).isEqualTo("faster");
  }

  @Test
  void aProcessThatFailedMakesItsCellFailedAndNotComparable() {
    blocks(new double[] {1_000, 1_000, 1_000}, new double[] {500, 500, 500});
    journal.add(TestData.forkEnd(4, 1, "engine/pp512", 1, "it died"));

    Summary summary = summary();
    assertThat(summary.cells()).extracting(Summary.Cell::state).containsExactly("steady", "failed");
    assertThat(summary.cells().get(1).mean()).isCloseTo(1_024, within(ROUNDING * 1_024));
    assertThat(comparison().verdict()).isEqualTo("not comparable");
    assertThat(comparison().note()).isEqualTo("engine failed: it died");
  }

  @Test
  void aTimedOutputThatWasWrongMakesItsCellFailed() {
    blocks(new double[] {1_000, 1_000, 1_000}, new double[] {500, 500, 500});
    journal.add(TestData.forkStart(4, 1, "engine/pp512", 1, false));
    journal.add(TestData.call(4, 1, "engine/pp512", 1, Role.TRIAL, 0, 512, 400 * MILLION, false));
    journal.add(TestData.forkEnd(4, 1, "engine/pp512", 1, ""));

    assertThat(comparison().note())
        .isEqualTo("engine failed: a timed output was not the one of the parity run");
    assertThat(summary().cells().get(1).forks()).isEqualTo(3);
  }

  @Test
  void aLabelThatWasNotMeasuredHasNoFigures() {
    for (int block = 1; block <= 3; block++) {
      trials(block, "base/pp512", 1_000 * MILLION);
    }

    Summary.Cell cell = summary().cells().get(1);
    assertThat(cell.state()).isEqualTo("failed");
    assertThat(cell.mean()).isNull();
    assertThat(cell.median()).isNull();
    assertThat(cell.low()).isNull();
    assertThat(cell.forks()).isZero();
    assertThat(cell.trials()).isZero();
    assertThat(comparison().ratio()).isNull();
    assertThat(comparison().blocks()).isZero();
  }

  @Test
  void aCellThatDidNotSettleSaysSo() {
    blocks(new double[] {1_000, 1_000}, new double[] {500, 500});
    journal.add(TestData.forkStart(3, 1, "engine/pp512", 1, false));
    journal.add(TestData.call(3, 1, "engine/pp512", 1, Role.TRIAL, 0, 512, 500 * MILLION, true));
    journal.add(new Entry.ForkEnd(3, 1, "engine/pp512", 1, false, 1, 1, 1, 1, Map.of(), ""));

    assertThat(summary().cells())
        .extracting(Summary.Cell::state)
        .containsExactly("steady", "no steady state");
  }

  @Test
  void processesThatFailedBeforeGoodOnesAreNoted() {
    journal.add(TestData.forkEnd(2, 1, "engine/pp512", 7, "it died"));
    journal.add(TestData.forkEnd(3, 1, "engine/pp512", 7, "it died"));
    blocks(new double[] {1_000, 1_000, 1_000}, new double[] {500, 500, 500});

    assertThat(comparison().verdict()).isEqualTo("faster");
    assertThat(comparison().note())
        .isEqualTo("engine: 2 of 5 processes failed and were tried again: it died");
    assertThat(summary().cells()).extracting(Summary.Cell::state).containsOnly("steady");
  }

  /** A process that never settled, with calls of these milliseconds before its one trial. */
  private void unsettled(int block, String cell, long trial, long... warmUp) {
    journal.add(TestData.forkStart(block, 1, cell, 1, false));
    for (int i = 0; i < warmUp.length; i++) {
      journal.add(
          TestData.call(block, 1, cell, 1, Role.WARM_UP, i, 512, warmUp[i] * MILLION, true));
    }
    journal.add(TestData.call(block, 1, cell, 1, Role.TRIAL, 0, 512, trial * MILLION, true));
    journal.add(new Entry.ForkEnd(block, 1, cell, 1, false, 1, 1, 1, 1, Map.of(), ""));
  }

  @Test
  void aCellThatDidNotSettleIsNotedWithTheClassesOfItsProcesses() {
    for (int block = 1; block <= 3; block++) {
      trials(block, "base/pp512", 1_000 * MILLION);
    }
    unsettled(1, "engine/pp512", 500, 900, 500, 500, 500, 500, 500);
    unsettled(2, "engine/pp512", 500, 300, 300, 300, 500, 500, 500);
    unsettled(3, "engine/pp512", 500, 900, 500, 500, 500, 500, 500);

    assertThat(comparison().note())
        .contains(
            "engine had not settled when its warm-up ended in 3 of 3 processes (2 warm-up, 1"
                + " slowdown)")
        .doesNotContain("base had not settled");
    assertThat(summary().cells().get(1).state()).isEqualTo("no steady state");
  }

  @Test
  void figuresThatRestOnADisturbedBlockSaySo() {
    blocks(new double[] {1_000, 1_000, 1_000}, new double[] {500, 500, 500});
    journal.add(TestData.blockEnd(2, 1, "busy"));

    assertThat(comparison().verdict()).isEqualTo("faster");
    assertThat(comparison().note())
        .isEqualTo("the machine was disturbed during 1 of the 3 blocks behind this");
    assertThat(summary().cells()).extracting(Summary.Cell::disturbed).containsOnly(0);
  }

  @Test
  void valuesOfZeroHaveNoRatio() {
    study = TestData.study(List.of("load"), "base", "engine");
    for (int block = 1; block <= 3; block++) {
      load(block, "base", 100 * MILLION);
      load(block, "engine", 0);
    }

    assertThat(comparison().verdict()).isEqualTo("not comparable");
    assertThat(comparison().ratio()).isNull();
    assertThat(comparison().note()).isEqualTo("there is no ratio of values that are not above 0");
  }

  @Test
  void disturbedAttemptsAreCounted() {
    journal.add(TestData.blockStart(1, 1));
    trials(1, "base/pp512", 900 * MILLION);
    trials(1, "engine/pp512", 900 * MILLION);
    journal.add(TestData.blockEnd(1, 1, "busy"));
    journal.add(TestData.blockStart(1, 2));
    journal.add(TestData.forkStart(1, 2, "base/pp512", 1, false));
    journal.add(TestData.call(1, 2, "base/pp512", 1, Role.TRIAL, 0, 512, 512 * MILLION, true));
    journal.add(TestData.forkEnd(1, 2, "base/pp512", 1, ""));
    journal.add(TestData.blockEnd(1, 2, ""));

    assertThat(summary().cells()).extracting(Summary.Cell::disturbed).containsOnly(1);
    assertThat(summary().cells().getFirst().mean()).isCloseTo(1_000, within(ROUNDING * 1_000));
  }

  @Test
  void aSpeedIsAShareOfTheRooflineWhereTheLimitsWereMeasured() {
    study = study.toBuilder().limits(Optional.of(TestData.limits(10_000))).build();
    blocks(new double[] {60_000, 60_000, 60_000}, new double[] {50_000, 50_000, 50_000});

    // 512 × 100 + 30 operations of matrices, 512 × 513 / 2 × 2 of attention.
    double seconds = (51_230 + 262_656) / 10_000.0;
    assertThat(summary().cells().get(0).roofline()).isCloseTo(seconds / 60, within(ROUNDING));
    assertThat(summary().cells().get(1).roofline()).isCloseTo(seconds / 50, within(ROUNDING));
  }

  @Test
  void noShareIsGivenOfLimitsThatWereMeasuredWithOtherThreads() {
    study = study.toBuilder().limits(Optional.of(TestData.limits(10_000))).build();
    blocks(new double[] {60_000, 60_000, 60_000}, new double[] {50_000, 50_000, 50_000});
    engines.put("base", TestData.parity("base"));
    engines.put("engine", TestData.parity("engine", TestData.settings("F32", "f32", 1)));

    assertThat(summary().cells().get(0).roofline()).isPositive();
    assertThat(summary().cells().get(1).roofline()).isNull();
  }

  @Test
  void withoutMeasuredLimitsThereIsNoShare() {
    blocks(new double[] {60_000, 60_000, 60_000}, new double[] {50_000, 50_000, 50_000});

    assertThat(summary().cells()).extracting(Summary.Cell::roofline).containsOnlyNulls();
  }

  @Test
  void withoutABaselineNothingIsCompared() {
    study = study.toBuilder().baseline("").build();
    blocks(new double[] {1_000}, new double[] {500});

    assertThat(summary().comparisons()).isEmpty();
    assertThat(summary().cells()).hasSize(2);
  }

  @Test
  void theSameJournalGivesTheSameSummary() {
    blocks(new double[] {1_000, 1_040, 980, 1_010}, new double[] {900, 960, 1_020, 890});

    assertThat(Json.pretty(summary())).isEqualTo(Json.pretty(summary()));
  }

  @Test
  void verdictsAreSpelledAsTheSchemaSays() {
    assertThat(Verdict.values())
        .extracting(Verdict::label)
        .containsExactlyInAnyOrder(
            "faster", "slower", "equivalent", "inconclusive", "not comparable");
  }

  @Test
  void theJsonIsThatOfTheSchema() throws IOException {
    blocks(new double[] {1_000, 1_000, 1_000}, new double[] {500, 500, 500});
    parity.add(
        new Summary.Parity(
            "base",
            "model",
            "F32 100%",
            true,
            1e-8,
            2e-8,
            1.0,
            0.001,
            Optional.of(new Perplexity(9.5, 1.001, 0.0005)),
            1e-8,
            true,
            ""));
    study.engines().keySet().forEach(label -> engines.put(label, TestData.parity(label)));
    var weights =
        new Summary.FairnessLine(
            "weights", new TreeMap<>(Map.of("base", "abc", "engine", "abc")), "equal");
    Summary summary =
        new Summariser(study, engines, parity, List.of(weights), journal).summarise("run");

    String golden;
    try (var in = SummariserTest.class.getResourceAsStream("summary.json")) {
      golden = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    assertThat(Json.pretty(summary).strip()).isEqualTo(golden.strip());
    assertThat(Json.read(golden, Summary.class)).isEqualTo(summary);
  }
}
