package io.steelyard.lab.study;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.steelyard.lab.TestData;
import org.junit.jupiter.api.Test;

/** Shares of limits of round numbers, counted by hand: see {@link TestData#limits}. */
class LimitsTest {
  /** A few operations on doubles. */
  private static final double ROUNDING = 1e-12;

  private static double share(
      double productsPerSecond, Workload workload, String kv, double tokensPerSecond) {
    return TestData.limits(productsPerSecond)
        .share(workload, kv, tokensPerSecond)
        .orElse(Double.NaN);
  }

  @Test
  void decodeReadsAllMatricesAndTheCacheSoFarForEachToken() {
    // 4 × 100 bytes, and 16 + 17 + 18 + 19 positions of 5 values: 1,100 bytes, of 2 s.
    assertThat(share(10_000, Workload.decode(4, 0), "f16", 2)).isCloseTo(0.55, within(ROUNDING));
    // Values of 4 bytes: 1,800 bytes.
    assertThat(share(10_000, Workload.decode(4, 0), "f32", 2)).isCloseTo(0.9, within(ROUNDING));
    // After 101 tokens: 101 + 102 positions, 200 + 2,030 bytes, of 4 s.
    assertThat(share(10_000, Workload.decode(2, 101), "f16", 0.5))
        .isCloseTo(0.5575, within(ROUNDING));
  }

  @Test
  void decodeIsLimitedByArithmeticWhereThatIsSlower() {
    // 4 × 130 operations, and 70 positions × 2: 660 operations at 100 a second, of 8 s.
    assertThat(share(100, Workload.decode(4, 0), "f16", 0.5)).isCloseTo(0.825, within(ROUNDING));
  }

  @Test
  void sequencesThatAreDecodedTogetherShareTheMatricesOnly() {
    // 4 × 100 bytes, and 3 × 70 positions of 10 bytes: 2,500 bytes for 12 tokens, of 4 s.
    Workload three = new Workload(Workload.Kind.DECODE, 0, 4, 0, 3);
    assertThat(share(10_000, three, "f16", 3)).isCloseTo(0.625, within(ROUNDING));
    // 12 × 130 operations, and 210 positions × 2: 1,980 operations at 100 a second, of 24 s.
    assertThat(share(100, three, "f16", 0.5)).isCloseTo(0.825, within(ROUNDING));
  }

  @Test
  void prefillMultipliesEachTokenAttendsCausallyAndPutsOutOnePosition() {
    // 10 × 100 + 30 operations, and 10 × 3 + 55 positions × 2: 1,200 operations, of 1 s.
    assertThat(share(2_000, Workload.prefill(10, 3), "f16", 10)).isCloseTo(0.6, within(ROUNDING));
  }

  @Test
  void prefillIsLimitedByBandwidthWhereThatIsLower() {
    // 100 bytes of matrices, and 13 positions × 10 bytes: 230 bytes, of 0.5 s.
    assertThat(share(10_000, Workload.prefill(10, 3), "f16", 20)).isCloseTo(0.46, within(ROUNDING));
  }

  @Test
  void forwardPutsOutEveryPositionOfEachSequence() {
    // 64 × 130 operations, and 4 × 136 positions × 2: 9,408 operations, of 2 s.
    assertThat(share(10_000, Workload.forward(4, 16), "f16", 32))
        .isCloseTo(0.4704, within(ROUNDING));
    // 100 bytes of matrices, and 64 positions × 10 bytes: 740 bytes, of 2 s.
    assertThat(share(20_000, Workload.forward(4, 16), "f16", 32)).isCloseTo(0.37, within(ROUNDING));
  }

  @Test
  void withoutAKnownPeakOnlyDecodeHasAShare() {
    assertThat(share(0, Workload.decode(4, 0), "f16", 2)).isCloseTo(0.55, within(ROUNDING));
    assertThat(TestData.limits(0).share(Workload.prefill(10, 3), "f16", 10)).isEmpty();
  }

  @Test
  void countedWorkHasTheShareOfWhatTakesLonger() {
    // 500 bytes at 1,000 a second or 300 operations at 100, of 4 s.
    Limits limits = Limits.ofMachine(2, 1_000, "f32", 100);
    assertThat(limits.share(500, 300, 4).orElseThrow()).isCloseTo(0.75, within(ROUNDING));
    assertThat(limits.share(5_000, 300, 10).orElseThrow()).isCloseTo(0.5, within(ROUNDING));
    assertThat(Limits.ofMachine(2, 1_000, "f32", 0).share(500, 300, 4)).isEmpty();
  }

  @Test
  void whatCantBeCountedHasNoShare() {
    Limits limits = TestData.limits(10_000);

    assertThat(limits.share(Workload.start(512, 64, 0), "f16", 1)).isEmpty();
    assertThat(limits.share(Workload.forward(4, 16), "q4_0", 1)).isEmpty();
    assertThat(limits.share(Workload.decode(4, 0), "q4_0", 1)).isEmpty();
  }
}
