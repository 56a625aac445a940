package io.steelyard.kernels;

@NeedsAvx2
final class Avx2MatmulTest extends MatmulTest {
  Avx2MatmulTest() {
    super(Tier.AVX2);
  }

  /** With quantised weights, 32 activations share a scale of 32,767 steps, or 127. */
  @Override
  double rounding(DataType type, float[] row, Rows x, int token, int tokens) {
    boolean bytes =
        switch (type) {
          case Q4_0, Q4_1, Q4_K -> tokens > MachineMatmul.FEW;
          default -> false;
        };
    return type.blockSize() > 1
        ? RandomData.sharedScaleError(row, x, token, bytes ? 127 : 32_767)
        : 0;
  }
}
