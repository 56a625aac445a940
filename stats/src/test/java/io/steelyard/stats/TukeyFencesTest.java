package io.steelyard.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.stats.TukeyFences.Mark;
import org.junit.jupiter.api.Test;

class TukeyFencesTest {

  @Test
  void marksNearAndFarOutliersOnBothSides() {
    TukeyFences fences = new TukeyFences(10, 20);

    assertThat(fences.marks(new double[] {-20.1, -20, -5.1, -5, 15, 35, 35.1, 50, 50.1}))
        .containsExactly(
            Mark.FAR,
            Mark.NEAR,
            Mark.NEAR,
            Mark.INSIDE,
            Mark.INSIDE,
            Mark.INSIDE,
            Mark.NEAR,
            Mark.NEAR,
            Mark.FAR);
  }

  @Test
  void takesItsQuartilesFromTheValues() {
    double[] values = {1, 2, 3, 4, 100};
    TukeyFences fences = TukeyFences.of(values);

    assertThat(fences).isEqualTo(new TukeyFences(2, 4));
    assertThat(fences.countFar(values)).isEqualTo(1);
  }

  @Test
  void withEqualMiddleHalfEveryOtherValueIsFar() {
    TukeyFences fences = TukeyFences.of(new double[] {5, 5, 5, 5, 5, 6});

    assertThat(fences.mark(5)).isEqualTo(Mark.INSIDE);
    assertThat(fences.mark(6)).isEqualTo(Mark.FAR);
  }

  @Test
  void refusesNoValues() {
    assertThatThrownBy(() -> TukeyFences.of(new double[0]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("at least one value");
    assertThatThrownBy(() -> Quantiles.of(new double[] {1}, 1.1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("outside 0…1");
  }
}
