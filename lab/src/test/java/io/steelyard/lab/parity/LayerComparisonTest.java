package io.steelyard.lab.parity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import io.steelyard.lab.worker.FloatRows;
import io.steelyard.lab.worker.TestRows;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LayerComparisonTest {
  @TempDir Path folder;

  private List<LayerComparison> compare(float[] oracle, float[] engine) throws Exception {
    try (FloatRows a = TestRows.of(folder.resolve("a"), 2, oracle);
        FloatRows b = TestRows.of(folder.resolve("b"), 2, engine)) {
      return LayerComparison.of(List.of("first", "second"), 2, a, b);
    }
  }

  @Test
  void equalLayersDifferInNothing() throws Exception {
    float[] values = {1, 2, 3, 4, 0, 0, 0, 0};

    assertThat(compare(values, values))
        .containsExactly(new LayerComparison("first", 0, 0), new LayerComparison("second", 0, 0));
  }

  @Test
  void theErrorIsTheDifferencesNormOverTheOracles() throws Exception {
    // First layer: (3, 4) against (3, 4.5) and zeros; second: (6, 8) against (9, 12).
    List<LayerComparison> layers =
        compare(new float[] {3, 4, 0, 0, 6, 8, 0, 0}, new float[] {3, 4.5f, 0, 0, 9, 12, 0, 0});

    assertThat(layers.get(0).relativeError()).isCloseTo(0.1, within(1e-15));
    assertThat(layers.get(0).maxAbs()).isEqualTo(0.5);
    assertThat(layers.get(1).relativeError()).isCloseTo(0.5, within(1e-15));
    assertThat(layers.get(1).maxAbs()).isEqualTo(4);
  }

  @Test
  void aValueThatIsNoNumberIsNotForgotten() throws Exception {
    List<LayerComparison> layers =
        compare(new float[] {1, 2, 3, 4, 1, 2, 3, 4}, new float[] {Float.NaN, 2, 3, 5, 1, 2, 3, 4});

    assertThat(layers.get(0).relativeError()).isNaN();
    assertThat(layers.get(0).maxAbs()).isNaN();
    assertThat(layers.get(1).maxAbs()).isZero();
  }

  @Test
  void shapesThatDisagreeAreRefused() throws Exception {
    try (FloatRows a = TestRows.of(folder.resolve("a"), 2, 1, 2, 3, 4);
        FloatRows b = TestRows.of(folder.resolve("b"), 2, 1, 2)) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> LayerComparison.of(List.of("first"), 2, a, b))
          .withMessage("layers of [1, 2] against [2, 2]");
    }
  }
}
