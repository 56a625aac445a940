package io.steelyard.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import jdk.incubator.vector.FloatVector;
import org.junit.jupiter.api.Test;

final class VectorElementwiseTest extends ElementwiseTest {
  VectorElementwiseTest() {
    super(Tier.VECTOR);
  }

  @Test
  void theExponentialIsAccurateOverItsRange() {
    try (Arena arena = Arena.ofShared()) {
      Rows x = Rows.allocate(arena, 1, Lanes.COUNT);
      for (double at = -90; at < 88; at += 0.013 * Lanes.COUNT) {
        for (int i = 0; i < Lanes.COUNT; i++) {
          x.set(0, i, (float) Math.min(88, at + 0.013 * i));
        }
        FloatVector result = Lanes.exp(Lanes.load(x.address(0)));
        for (int i = 0; i < Lanes.COUNT; i++) {
          float value = x.get(0, i);
          if (value < -87) {
            assertThat(result.lane(i)).isZero();
          } else {
            double exact = Math.exp(value);
            assertThat(Math.abs(result.lane(i) - exact) / exact).as("e^%s", value).isLessThan(2e-7);
          }
        }
      }
      x.set(0, 0, Float.NEGATIVE_INFINITY);
      x.set(0, 1, -Float.MAX_VALUE);
      x.set(0, 2, 0);
      FloatVector result = Lanes.exp(Lanes.load(x.address(0)));
      assertThat(result.lane(0)).isZero();
      assertThat(result.lane(1)).isZero();
      assertThat(result.lane(2)).isEqualTo(1);
    }
  }
}
