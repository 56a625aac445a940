package io.steelyard.engines;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CachedPrefixTest {
  private static final int[] IDS = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  private static final int[] OTHER = {1, 2, 3, 4, 5, 6, 0, 8, 9, 10};

  private final CachedPrefix prefix = new CachedPrefix();

  @Test
  void keepsAllOfTheSameIds() {
    assertThat(prefix.reusable(IDS, 7, 4)).isZero();
    prefix.set(IDS, 7);
    assertThat(prefix.reusable(IDS, 7, 4)).isEqualTo(7);
    assertThat(prefix.reusable(OTHER, 0, 4)).isZero();
    prefix.clear();
    assertThat(prefix.reusable(IDS, 7, 4)).isZero();
  }

  @Test
  void keepsWholePassesOnlyWhereTheIdsDifferOrEnd() {
    prefix.set(IDS, 7);
    assertThat(prefix.reusable(OTHER, 7, 4)).isEqualTo(4);
    assertThat(prefix.reusable(OTHER, 7, 3)).isEqualTo(6);
    assertThat(prefix.reusable(IDS, 10, 4)).as("longer").isEqualTo(4);
    assertThat(prefix.reusable(IDS, 5, 4)).as("shorter").isEqualTo(4);
    assertThat(prefix.reusable(IDS, 4, 4)).isEqualTo(4);
    assertThat(prefix.reusable(new int[] {9}, 1, 1)).isZero();
  }
}
