package io.steelyard.lab.parity;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.lab.TestData;
import io.steelyard.lab.worker.LoadReport;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PrecisionClassTest {
  @ParameterizedTest
  @CsvSource({
    "F32, f32, F32",
    "F32 100%, F32, F32",
    "float32, float32, F32",
    "F32, f16, HALF",
    "F32, bf16, HALF",
    "F16, f32, HALF",
    "F16 99% + F32 1%, f16, HALF",
    "BF16 100%, f32, HALF",
    "bfloat16, bfloat16, HALF",
    "float16, f32, HALF",
    "fp16, f32, HALF",
    "Q8_0 100%, f16, EIGHT_BIT",
    "Q8_0 100%, f32, EIGHT_BIT",
    "int8, f32, EIGHT_BIT",
    "FP8, f16, EIGHT_BIT",
    "F16, q8_0, EIGHT_BIT",
    "Q6_K 100%, f16, EIGHT_BIT",
    "Q4_1 79% + Q8_0 21%, f16, FOUR_BIT",
    "Q4_K 80% + Q6_K 20%, f16, FOUR_BIT",
    "Q6_K 20% + Q4_K 80%, f32, FOUR_BIT",
    "Q5_K 100%, f32, FOUR_BIT",
    "Q4_0, f32, FOUR_BIT",
    "IQ4_XS, f32, FOUR_BIT",
    "TQ1_0, f32, FOUR_BIT",
    "MXFP4, f32, FOUR_BIT",
    "nf4, f16, FOUR_BIT",
    "int4, f16, FOUR_BIT",
    "F16, q4_0, FOUR_BIT",
  })
  void theLeastPreciseOfWeightsAndCacheDecides(String weights, String kv, PrecisionClass expected) {
    assertThat(PrecisionClass.of(TestData.settings(weights, kv, 2))).isEqualTo(expected);
  }

  @Test
  void weightsExcuseNothingWhereTheArithmeticIsFloat32() {
    LoadReport.Settings rounded = TestData.settings("Q4_1 100%", "f16", 2);
    LoadReport.Settings exact =
        new LoadReport.Settings("Q4_1 100%", "f16", "f32", 2, "0-1", 512, 1024, true, 3, 30, 1);

    assertThat(PrecisionClass.of(rounded)).isEqualTo(PrecisionClass.FOUR_BIT);
    assertThat(PrecisionClass.of(exact)).isEqualTo(PrecisionClass.HALF);
  }

  @Test
  void arithmeticThatRoundsCountsWhateverTheWeights() {
    LoadReport.Settings settings =
        new LoadReport.Settings(
            "F32 100%", "f32", "f32, f16 in flash attention", 2, "0-1", 512, 1024, true, 3, 30, 1);

    assertThat(PrecisionClass.of(settings)).isEqualTo(PrecisionClass.HALF);
  }

  @Test
  void typesThatAreNotKnownAreHeldToTheStrictestBounds() {
    assertThat(PrecisionClass.of(TestData.settings("none", "none", 2)))
        .isEqualTo(PrecisionClass.F32);
  }

  @Test
  void boundsWidenFromClassToClass() {
    PrecisionClass[] classes = PrecisionClass.values();
    for (int i = 1; i < classes.length; i++) {
      PrecisionClass strict = classes[i - 1];
      PrecisionClass wide = classes[i];

      assertThat(wide.meanKl()).isGreaterThan(strict.meanKl());
      assertThat(wide.p99Kl()).isGreaterThan(strict.p99Kl());
      assertThat(wide.maxAbs()).isGreaterThan(strict.maxAbs());
      assertThat(wide.margin()).isGreaterThan(strict.margin());
      assertThat(wide.layerError()).isGreaterThan(strict.layerError());
      assertThat(wide.top1()).isLessThan(strict.top1());
      assertThat(PrecisionClass.lessPrecise(strict, wide)).isEqualTo(wide);
      assertThat(PrecisionClass.lessPrecise(wide, strict)).isEqualTo(wide);
    }
  }

  @Test
  void theBoundsOnTheMeanAreThoseOfTheContract() {
    assertThat(PrecisionClass.F32.meanKl()).isEqualTo(1e-7);
    assertThat(PrecisionClass.HALF.meanKl()).isEqualTo(1e-3);
    assertThat(PrecisionClass.EIGHT_BIT.meanKl()).isEqualTo(1e-2);
    assertThat(PrecisionClass.FOUR_BIT.meanKl()).isEqualTo(2e-2);
  }

  @Test
  void everyBoundThatIsBrokenIsNamedWithBothValues() {
    assertThat(
            PrecisionClass.HALF.failures(
                new LogitsComparison(3, 1e-3, 1e-2, 0.95, 0, 1, List.of()), ""))
        .isEmpty();
    assertThat(
            PrecisionClass.HALF.failures(
                new LogitsComparison(3, 2e-3, 2e-2, 0.9, 0, 1.5, List.of()), " now"))
        .containsExactly(
            "mean KL now 0.00200 is over 0.00100",
            "99th percentile of KL now 0.0200 is over 0.0100",
            "largest logit difference now 1.50 is over 1.00",
            "top-1 agreement now 0.900 is under 0.950");
  }

  @Test
  void whatIsNoNumberBreaksEveryBound() {
    double nan = Double.NaN;

    assertThat(
            PrecisionClass.FOUR_BIT.failures(
                new LogitsComparison(0, nan, nan, nan, nan, nan, List.of()), ""))
        .hasSize(4);
  }

  @Test
  void closeCallsCountAsAgreement() {
    List<Double> gaps = List.of(0.05, 0.4, 0.6, 3.0);
    LogitsComparison logits = new LogitsComparison(10, 1e-9, 1e-9, 0.6, 0, 1e-3, gaps);

    assertThat(logits.top1Within(0.5)).isEqualTo(0.8);
    assertThat(PrecisionClass.EIGHT_BIT.failures(logits, ""))
        .containsExactly("top-1 agreement 0.800 is under 0.900");
    assertThat(PrecisionClass.FOUR_BIT.failures(logits, "")).isEmpty();
  }
}
