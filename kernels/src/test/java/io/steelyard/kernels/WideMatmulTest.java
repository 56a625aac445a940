package io.steelyard.kernels;

/** The products of the AVX-512 tier. */
abstract class WideMatmulTest extends MatmulTest {
  WideMatmulTest(KernelsMaker made, Sizes sizes) {
    super(made, sizes);
  }

  /**
   * With quantised weights, 32 activations share a scale, of which each is wrong by at most half: 1
   * part in 127 of the largest. With bf16 weights each of many tokens' activations is rounded to 8
   * bits.
   */
  @Override
  double rounding(DataType type, float[] row, Rows x, int token, int tokens) {
    if (tokens <= MachineMatmul.FEW) {
      return roundingOfFew(type, row, x, token);
    }
    double bound = roundingOfFew(type, row, x, token);
    if (type == DataType.BF16) {
      for (int i = 0; i < row.length; i++) {
        bound += Math.abs(row[i] * x.get(token, i)) * 0x1p-8;
      }
    }
    return bound;
  }

  static double roundingOfFew(DataType type, float[] row, Rows x, int token) {
    return type.blockSize() > 1 ? RandomData.sharedScaleError(row, x, token, 127) : 0;
  }
}
