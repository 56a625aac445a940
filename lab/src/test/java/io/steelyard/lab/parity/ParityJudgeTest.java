package io.steelyard.lab.parity;

import static io.steelyard.lab.TestData.generating;
import static io.steelyard.lab.TestData.mismatched;
import static io.steelyard.lab.TestData.parity;
import static io.steelyard.lab.TestData.settings;
import static io.steelyard.lab.TestData.with;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.lab.TestData;
import io.steelyard.lab.parity.EngineParity.Output;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.study.Study;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ParityJudgeTest {
  /** Of the float32 class: mean KL 1e-7, p99 1e-6, top-1 0.99, max 0.02, margin 0.005. */
  private static final EngineParity SOUND = with(parity("engine"), outputs(1, 2, 3));

  private static final EngineParity BASELINE = with(parity("base"), outputs(1, 2, 3));

  private static final Study STUDY = TestData.study(List.of("prefill", "memory"), "base", "engine");

  private final ParityJudge judge = judge(STUDY, 1f, 0.004f, 0.006f);

  private static ParityJudge judge(Study study, float... margins) {
    return new ParityJudge(
        study,
        new Oracle(
            Path.of("oracle"),
            new Oracle.Results(
                "reference", 3, List.of(), List.of(), List.of(), new int[] {5, 6, 7}, margins)));
  }

  private static Map<String, List<Output>> outputs(int... ids) {
    return Map.of("tg3", List.of(new Output(ids, new float[] {1, 0.004f, 0.006f}, 0)));
  }

  private static LogitsComparison logits(double mean, double p99, double top1, double maxAbs) {
    return new LogitsComparison(100, mean, p99, top1, 0, maxAbs, List.of());
  }

  private Summary.Parity judge(EngineParity engine) {
    return judge.judge(engine, BASELINE);
  }

  private void fails(EngineParity engine, String note) {
    Summary.Parity parity = judge(engine);
    assertThat(parity.pass()).as(parity.note()).isFalse();
    assertThat(parity.note()).isEqualTo(note);
  }

  @Test
  void anEngineThatDoesWhatTheOracleDoesPassesWithoutANote() {
    assertThat(judge(SOUND))
        .isEqualTo(
            new Summary.Parity(
                "engine",
                "model",
                "F32 100%",
                true,
                0.0,
                0.0,
                1.0,
                0.0,
                Optional.empty(),
                0.0,
                true,
                ""));
  }

  private static Summary.Parity inAnotherPrecision(double meanKl) {
    Study study =
        STUDY.toBuilder()
            .precisions(
                Optional.of(
                    new Study.Precisions(
                        "base", Map.of("engine", STUDY.model()), 0.5, 1, Optional.empty())))
            .build();
    return judge(study, 1f, 0.004f, 0.006f)
        .judge(
            generating(with(with(SOUND, outputs(9, 9, 9)), logits(meanKl, 9, 0, 9)), 5, 9, 9),
            BASELINE);
  }

  @Test
  void anotherPrecisionIsHeldToItsBoundAlone() {
    Summary.Parity parity = inAnotherPrecision(0.4);

    assertThat(parity.pass()).as(parity.note()).isTrue();
    assertThat(parity.note()).isEqualTo("its greedy tokens leave the source's at 2 of 3");
  }

  @Test
  void anotherPrecisionOverItsBoundFails() {
    for (double meanKl : new double[] {0.6, Double.NaN, Double.POSITIVE_INFINITY}) {
      Summary.Parity parity = inAnotherPrecision(meanKl);

      assertThat(parity.pass()).isFalse();
      assertThat(parity.note()).startsWith("mean KL to the source ").endsWith("the bound of 0.500");
    }
  }

  @Test
  void boundsThemselvesPass() {
    Summary.Parity parity = judge(with(SOUND, logits(1e-7, 1e-6, 0.99, 0.02)));

    assertThat(parity.pass()).isTrue();
    assertThat(parity.toleranceThatPasses()).isEqualTo(1e-7);
  }

  @Test
  void differentTokenIdsFailAndNothingMoreIsCompared() {
    Summary.Parity parity = judge(mismatched(SOUND, "x".repeat(50)));

    assertThat(parity)
        .isEqualTo(
            new Summary.Parity(
                "engine",
                "model",
                "F32 100%",
                false,
                null,
                null,
                null,
                null,
                Optional.empty(),
                null,
                false,
                "its token ids differ on: " + "x".repeat(40) + "…"));
  }

  @Test
  void aMeanDivergenceOverItsBoundFails() {
    fails(with(SOUND, logits(2e-7, 0, 1, 0)), "mean KL 2.00e-07 is over 1.00e-07");
  }

  @Test
  void aTailOfTheDivergenceOverItsBoundFails() {
    fails(with(SOUND, logits(0, 2e-6, 1, 0)), "99th percentile of KL 2.00e-06 is over 1.00e-06");
  }

  @Test
  void tooLittleTopOneAgreementFails() {
    fails(with(SOUND, logits(0, 0, 0.98, 0)), "top-1 agreement 0.980 is under 0.990");
  }

  @Test
  void aLogitThatIsFarOffFails() {
    fails(with(SOUND, logits(0, 0, 1, 0.5)), "largest logit difference 0.500 is over 0.0200");
  }

  @Test
  void everyBoundThatFailsIsNamed() {
    assertThat(judge(with(SOUND, logits(1, 1, 0, 1))).note())
        .contains("mean KL", "99th percentile", "top-1", "largest logit difference");
  }

  @Test
  void figuresThatAreNoNumbersFail() {
    assertThat(judge(with(SOUND, logits(Double.NaN, 0, 1, 0))).pass()).isFalse();
    assertThat(judge(with(SOUND, logits(0, Double.NaN, 1, 0))).pass()).isFalse();
    assertThat(judge(with(SOUND, logits(0, 0, Double.NaN, 0))).pass()).isFalse();
    assertThat(judge(with(SOUND, logits(0, 0, 1, Double.NaN))).pass()).isFalse();
    assertThat(judge(with(SOUND, logits(Double.POSITIVE_INFINITY, 0, 1, 0))).pass()).isFalse();
  }

  @Test
  void aCoarserPrecisionIsHeldToWiderBounds() {
    EngineParity four =
        with(
            with(parity("engine", settings("Q4_1 100%", "f16", 2)), outputs(1, 2, 3)),
            logits(1e-2, 1e-1, 0.9, 5));

    assertThat(judge(four).pass()).isTrue();
    assertThat(judge(with(SOUND, four.logits())).pass()).isFalse();
  }

  @Test
  void aGreedyTokenThatDiffersWhereTheOracleIsSureFails() {
    fails(
        generating(SOUND, 5, 6, 9),
        "greedy tokens differ from the oracle's at 3 of 3, where its margin is 0.00600");
  }

  @Test
  void aGreedyTokenThatDiffersWhereTheOracleIsUnsureIsNotedAndEndsTheComparison() {
    Summary.Parity parity = judge(generating(SOUND, 5, 9, 9));

    assertThat(parity.pass()).isTrue();
    assertThat(parity.note())
        .isEqualTo("greedy tokens differ from the oracle's at 2 of 3, where its margin is 0.00400");
  }

  @Test
  void tooFewGreedyTokensFail() {
    fails(generating(SOUND, 5, 6), "it generated 2 tokens where 3 were asked for");
  }

  @Test
  void aForcedLengthThatWasNotReachedFails() {
    Study decode =
        STUDY.toBuilder()
            .metrics(List.of("decode", "memory"))
            .shape(new Study.Shape(0, 3, 0, 1))
            .build();
    Output start = new Output(new int[] {1}, new float[0], 0);
    EngineParity engine =
        with(
            SOUND,
            Map.of(
                "tg3",
                List.of(
                    new Output(new int[] {1, 2, 3}, new float[3], 0),
                    new Output(new int[] {1, 2}, new float[2], 0)),
                "start",
                List.of(start)));

    Summary.Parity parity = judge(decode, 1, 1, 1).judge(engine, engine);

    assertThat(parity.note()).isEqualTo("it generated 2 tokens where 3 were forced");
    assertThat(parity.pass()).isFalse();
  }

  @Test
  void aTokenThatDiffersFromTheBaselinesWhereBothAreSureFails() {
    fails(
        with(SOUND, outputs(1, 2, 9)),
        "tg3, prompt 1: differs from base at token 3, where the margin is 0.00600");
  }

  @Test
  void aTokenThatDiffersFromTheBaselinesInACloseCallIsNoted() {
    Summary.Parity parity = judge(with(SOUND, outputs(1, 9, 9)));

    assertThat(parity.pass()).isTrue();
    assertThat(parity.note())
        .isEqualTo("tg3, prompt 1: differs from base at token 2, where the margin is 0.00400");
  }

  @Test
  void theMarginOfEitherSideMakesACloseCall() {
    EngineParity sure =
        with(SOUND, Map.of("tg3", List.of(new Output(new int[] {9, 2, 3}, new float[] {1}, 0))));
    EngineParity unsure =
        with(BASELINE, Map.of("tg3", List.of(new Output(new int[] {1, 2, 3}, new float[] {0}, 0))));

    assertThat(judge.judge(sure, unsure).pass()).isTrue();
    assertThat(judge.judge(unsure, sure).pass()).isTrue();
    assertThat(judge.judge(sure, BASELINE).pass()).isFalse();
  }

  @Test
  void anEngineWithoutMarginsIsJudgedByTheBaselines() {
    EngineParity silent =
        with(SOUND, Map.of("tg3", List.of(new Output(new int[] {1, 2, 9}, new float[0], 0))));

    assertThat(judge(silent).pass()).isFalse();
    assertThat(judge(silent).note()).contains("differs from base at token 3");
  }

  @Test
  void aPrefillsTokenHasNoMarginAndIsNoFailure() {
    EngineParity one =
        with(SOUND, Map.of("pp512", List.of(new Output(new int[] {1}, new float[0], 0))));
    EngineParity other =
        with(BASELINE, Map.of("pp512", List.of(new Output(new int[] {2}, new float[0], 0))));

    assertThat(judge.judge(one, other).pass()).isTrue();
  }

  @Test
  void aPreciseEngineIsNotBlamedForACoarseBaseline() {
    EngineParity coarse = with(parity("base", settings("F32 100%", "f16", 2)), outputs(1, 2, 9));

    assertThat(judge.judge(SOUND, coarse).pass())
        .as("0.006 is within the margin of the half class")
        .isTrue();
  }

  @Test
  void aBaselineWithOtherTokenIdsIsNoMeasure() {
    assertThat(judge.judge(SOUND, mismatched(BASELINE, "text")).pass()).isTrue();
  }

  @Test
  void aFaultyBaselineIsNoMeasureAndIsBlamedItself() {
    EngineParity faulty = with(with(BASELINE, outputs(7, 8, 9)), logits(9, 9, 0, 9));

    Summary.Parity parity = judge.judge(SOUND, faulty);

    assertThat(parity.pass()).isTrue();
    assertThat(parity.note()).isEqualTo("not held against base, which failed parity itself");
    assertThat(judge.judge(faulty, faulty).note()).startsWith("mean KL 9.00 is over");
  }

  @Test
  void manyCloseCallsAreCounted() {
    List<Output> own = new ArrayList<>();
    List<Output> others = new ArrayList<>();
    for (int prompt = 0; prompt < 5; prompt++) {
      own.add(new Output(new int[] {1}, new float[] {0.001f}, 0));
      others.add(new Output(new int[] {2}, new float[] {0.001f}, 0));
    }
    Summary.Parity parity =
        judge.judge(with(SOUND, Map.of("tg1", own)), with(BASELINE, Map.of("tg1", others)));

    assertThat(parity.pass()).isTrue();
    assertThat(parity.note())
        .isEqualTo(
            "tg1, prompt 1: differs from base at token 1, where the margin is 0.00100; 4 more close"
                + " calls like it");
  }
}
