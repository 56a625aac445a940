package io.steelyard.kernels;

/** The products of the AVX-512 tier. */
abstract class WideMatmulTest extends MatmulTest {
  WideMatmulTest(KernelsMaker made, Sizes sizes) {
    super(made, sizes);
  }

  /**
   * With weights in whole numbers, 32 activations share a scale, of which each is wrong by at most
   * half: 1 part in 127 of the largest. With bf16 weights each of many tokens' activations is
   * rounded to 8 bits; the levels of NF4 are rounded to 11 for many tokens.
   */
  @Override
  double rounding(DataType type, float[] row, Rows x, int token, int tokens) {
    if (tokens <= MachineMatmul.FEW) {
      return roundingOfFew(type, row, x, token);
    }
    return switch (type) {
      case BF16 -> RandomData.magnitude(row, x, token) * 0x1p-8;
      case NF4 -> RandomData.magnitude(row, x, token) * 0x1p-11;
      default -> roundingOfFew(type, row, x, token);
    };
  }

  static double roundingOfFew(DataType type, float[] row, Rows x, int token) {
    return switch (type) {
      case F32, F16, BF16, FP8_E4M3, FP8_E5M2, NF4, FP4 -> 0;
      default -> RandomData.sharedScaleError(row, x, token, 127, 32);
    };
  }
}
