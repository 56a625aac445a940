package io.steelyard.kernels.attention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.attention.RankPlan.Split;
import io.steelyard.kernels.attention.RankPlan.Travels;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class RankPlanTest {
  private static final long BILLION = 1_000_000_000;

  private static Split split(long length, long ranks) {
    return new Split(length, ranks, 1, 8, 8, 64, true, DataType.F32, 2);
  }

  private static RankPlan plan(String variant, long length, long ranks) {
    return RankPlan.of(Variants.of(variant), split(length, ranks));
  }

  @Test
  void exactAttentionSendsAllKeysAndValuesAround() {
    RankPlan plan = plan("ring", BILLION, 64);

    // 15,625,000 positions of 24 heads of queries, keys and values of 256 bytes.
    assertThat(plan.inputBytes()).isEqualTo(15_625_000L * 24 * 256);
    assertThat(plan.outputBytes()).isEqualTo(15_625_000L * 8 * (256 + 4));
    assertThat(plan.sentBytes()).isEqualTo(63 * 15_625_000L * 16 * 256);
    assertThat(plan.travels()).isEqualTo(Travels.EVERYTHING);
    assertThat(plan.scores() / (8 * (1e18 + 1e9) / 2)).isCloseTo(1, within(1e-12));
    assertThat(plan("ring", BILLION, 1).sentBytes()).isZero();
    assertThat(plan("ring", BILLION, 1).travels()).isEqualTo(Travels.NOTHING);
    assertThat(plan("dense", BILLION, 64).scratchBytes())
        .isGreaterThan(plan("flash", BILLION, 64).scratchBytes());
  }

  @Test
  void segmentsThatEndWithARankSendNothing() {
    long length = 1L << 30;
    String variant = ":segments=1024/4096,rates=1/4";

    RankPlan dilated = plan("improved-dilated" + variant, length, 1024);

    assertThat(dilated.sentBytes()).isZero();
    // Four heads with 1,024 of each 1,024 positions, four with 1,024 of each 4,096.
    double ofSegment = 1024 * 1025 / 2.0;
    assertThat(dilated.scores()).isEqualTo(4 * ofSegment * (1 << 20) + 4 * ofSegment * (1 << 18));
    assertThat(plan("ring-dilated-v3" + variant, length, 1024).sentBytes()).isZero();
    assertThat(plan("ring-dilated-v2" + variant, length, 1024).travels())
        .isEqualTo(Travels.PATTERNS);
  }

  @Test
  void aSegmentOverFourRanksGoesToThreeOthers() {
    RankPlan plan = plan("dilated:segments=4096,rates=2", 1 << 20, 1024);

    // Of each head 512 of 1,024 positions, keys and values of 256 bytes.
    assertThat(plan.sentBytes()).isEqualTo(8L * 3 * 512 * 2 * 256);
    assertThat(plan.travels()).isEqualTo(Travels.SEGMENTS);
  }

  @Test
  void aShorterSegmentThanAShardSendsOnlyWhatReachesAcross() {
    RankPlan plan = plan("dilated:segments=1000,rates=1", 1 << 20, 16);

    assertThat(plan.sentBytes()).isEqualTo(8L * 2 * 1000 * 2 * 256);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "block-sparse",
        "block-sparse:pattern=dilated-sparse",
        "block-sparse:pattern=global-local,global=2",
        "block-sparse:pattern=strided,stride=3",
        "block-sparse:pattern=hierarchical",
        "block-sparse:pattern=hierarchical,block=96"
      })
  void blocksOfLongSequencesAreThoseThatCountingGives(String variant) {
    int length = 3 * (1 << 16);
    AttentionShape shape = new AttentionShape(1, length, 8, 8, 64, true);

    double counted = Variants.of(variant).estimate(shape, DataType.F32, 2).scores();
    // The polynomial is exact but for rounding.
    assertThat(plan(variant, length, 4).scores() / counted).isCloseTo(1, within(1e-12));
    assertThat(plan(variant, BILLION, 64).scores()).isLessThan(plan("flash", BILLION, 64).scores());
  }

  @Test
  void aWindowSendsAsFarAsItReaches() {
    RankPlan plan = plan("block-sparse:window=1024,block=128", BILLION, 64);

    assertThat(plan.sentBytes()).isEqualTo(2L * (4 * 128 + 128) * 256 * 8);
    assertThat(plan.travels()).isEqualTo(Travels.WINDOW);
    // Five blocks of keys a block of queries, by whole blocks.
    assertThat(plan.scores() / (8 * 1e9 * 5 * 128)).isCloseTo(1, within(1e-5));
  }

  @Test
  void whatARuleLeavesOutIsNotKnown() {
    assertThat(plan("flex:rules=sliding-window", BILLION, 64).bound()).isTrue();
    assertThat(plan("block-sparse:block=16", BILLION, 64).bound()).isFalse();
    assertThat(plan("block-sparse:block=1,window=100000000", BILLION, 64).bound()).isTrue();
  }

  @Test
  void absurdSizesAreRefused() {
    assertThatThrownBy(() -> split(10, 11)).hasMessageContaining("give 1 to 10");
    assertThatThrownBy(() -> split(10, 0)).hasMessageContaining("give 1 to 10");
    Split wide = new Split(999_999 * BILLION, 1, 1, 1024, 1024, 4096, true, DataType.F32, 2);
    assertThatThrownBy(() -> RankPlan.of(Variants.of("flash"), wide))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("more bytes than 63 bits count");
    Split large = new Split(BILLION, 1, 1, 1024, 1024, 4096, true, DataType.F32, 64);
    assertThat(RankPlan.of(Variants.of("flash"), large).inputBytes())
        .isEqualTo(BILLION * 3 * 1024 * 4096 * 4);
  }
}
