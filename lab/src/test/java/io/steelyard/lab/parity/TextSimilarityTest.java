package io.steelyard.lab.parity;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TextSimilarityTest {
  private static int[] ids(int... ids) {
    return ids;
  }

  @Test
  void editsCountByTheLongerText() {
    assertThat(TextSimilarity.of(ids(1, 2, 3, 4), ids(1, 2, 3, 4))).isEqualTo(1);
    // One token more at the start is one edit, though every place differs.
    assertThat(TextSimilarity.of(ids(1, 2, 3), ids(9, 1, 2, 3))).isEqualTo(0.75);
    assertThat(TextSimilarity.of(ids(1, 2), ids(3, 4))).isZero();
    assertThat(TextSimilarity.of(ids(), ids())).isEqualTo(1);
    assertThat(TextSimilarity.of(ids(), ids(1))).isZero();
  }

  @Test
  void agreementEndsAtTheFirstOtherToken() {
    assertThat(TextSimilarity.agreed(ids(1, 2, 3, 4), ids(1, 2, 9, 4))).isEqualTo(0.5);
    assertThat(TextSimilarity.agreed(ids(1), ids(1, 2))).isEqualTo(0.5);
    assertThat(TextSimilarity.agreed(ids(), ids())).isEqualTo(1);
  }
}
