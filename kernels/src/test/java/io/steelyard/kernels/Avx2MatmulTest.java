package io.steelyard.kernels;

@NeedsAvx2
final class Avx2MatmulTest extends MatmulTest {
  Avx2MatmulTest() {
    super(Tier.AVX2);
  }

  /**
   * With weights in whole numbers, 32 activations of many tokens or 256 of few share a scale of
   * 32,767 steps, or 16 one of 127.
   */
  @Override
  double rounding(DataType type, float[] row, Rows x, int token, int tokens) {
    boolean few = tokens <= fast.fewTokens();
    return switch (type) {
      case F32, F16, BF16, FP8_E4M3, FP8_E5M2, FP4 -> 0;
      case NF4 -> RandomData.magnitude(row, x, token) * 0x1p-11;
      case Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K, MXFP4 ->
          RandomData.sharedScaleError(row, x, token, 127, 2, 32);
      // Of many tokens, 16 that lie side by side share one, of few 16 by turns.
      case Q6_K ->
          few
              ? RandomData.sharedScaleError(row, x, token, 127, 2, 32)
              : RandomData.sharedScaleError(row, x, token, 127, 16);
      case IQ4_NL, IQ4_XS -> RandomData.sharedScaleError(row, x, token, few ? 127 : 32_767, 2, 32);
      default -> RandomData.sharedScaleError(row, x, token, 32_767, few ? 256 : 32);
    };
  }
}
