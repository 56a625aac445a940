package io.steelyard.models.gguf;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import java.lang.foreign.Arena;
import java.util.List;
import org.junit.jupiter.api.Test;

class WeightPrecisionTest {
  @Test
  void namesTheOnlyTypeOfTheMatrices() {
    assertThat(describe(tensor("a", DataType.Q8_0, 32, 4), tensor("norm", DataType.F32, 32, 1)))
        .isEqualTo("Q8_0");
  }

  @Test
  void tellsSharesOfParametersLargestFirst() {
    assertThat(
            describe(
                tensor("embedding", DataType.Q8_0, 32, 21),
                tensor("a", DataType.Q4_1, 32, 40),
                tensor("b", DataType.Q4_1, 32, 39),
                tensor("norm", DataType.F32, 3200, 1)))
        .isEqualTo("Q4_1 79% + Q8_0 21%");
  }

  @Test
  void neverRoundsAShareAway() {
    assertThat(describe(tensor("a", DataType.F16, 8, 1000), tensor("b", DataType.F32, 8, 2)))
        .isEqualTo("F16 >99% + F32 <1%");
  }

  @Test
  void saysNoneWithoutMatrices() {
    assertThat(describe(tensor("norm", DataType.F32, 8, 1))).isEqualTo("none");
  }

  private static String describe(Tensor... tensors) {
    return WeightPrecision.describe(List.of(tensors));
  }

  private static Tensor tensor(String name, DataType type, long columns, long rows) {
    return new Tensor(
        name, type, columns, rows, Arena.ofAuto().allocate(rows * type.bytes(columns)));
  }
}
