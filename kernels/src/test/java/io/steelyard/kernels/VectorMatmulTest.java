package io.steelyard.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class VectorMatmulTest extends MatmulTest {
  VectorMatmulTest() {
    super(Tier.VECTOR);
  }

  /** It keeps activations as they are. */
  @Override
  double rounding(DataType type, float[] row, Rows x, int token, int tokens) {
    return 0;
  }

  @ParameterizedTest
  @EnumSource
  void manyTokensUseTheCodecsBits(DataType type) {
    // A one-hot activation makes the product a decoded weight.
    int columns = type.blockSize() == 1 ? 70 : 2 * type.blockSize();
    try (Arena arena = Arena.ofShared()) {
      RandomData data = new RandomData(arena, 7);
      List<Tensor> parts = List.of(data.tensor(type, 13, columns));
      Rows x = Rows.allocate(arena, columns, columns);
      for (int c = 0; c < columns; c++) {
        x.set(c, c, 1);
      }
      Rows expected = Rows.allocate(arena, columns, 13);
      Rows actual = Rows.allocate(arena, columns, 13);
      reference.matmul(reference.prepare(parts), x, expected, columns);
      fast.matmul(fast.prepare(parts), x, actual, columns);
      for (int token = 0; token < columns; token++) {
        assertThat(actual.row(token).mismatch(expected.row(token))).isEqualTo(-1);
      }
    }
  }
}
