package io.steelyard.kernels;

@NeedsAvx2
final class Avx2MatmulTest extends MatmulTest {
  Avx2MatmulTest() {
    super(Tier.AVX2);
  }

  /** With quantised weights, 32 activations share a scale of 32,767 steps. */
  @Override
  double rounding(DataType type, float[] row, Rows x, int token, int tokens) {
    return type.blockSize() > 1 ? RandomData.sharedScaleError(row, x, token, 32_767) : 0;
  }
}
