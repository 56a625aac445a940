package io.steelyard.kernels;

/** Products in tiles of bf16. */
abstract class TileMatmulTest extends MatmulTest {
  private static final double SUBNORMAL = 0x1p-126;

  TileMatmulTest(KernelsMaker made) {
    super(made);
  }

  TileMatmulTest(KernelsMaker made, Sizes sizes) {
    super(made, sizes);
  }

  /**
   * For many tokens both weights and activations are rounded to 8 bits; float16 weights are kept in
   * two bf16, and so are their activations, of which the product of both low parts is left out.
   * Subnormal weights are zeros.
   */
  @Override
  double rounding(DataType type, float[] row, Rows x, int token, int tokens) {
    if (tokens <= MachineMatmul.FEW) {
      return WideMatmulTest.roundingOfFew(type, row, x, token);
    }
    double part =
        switch (type) {
          case F32 -> 0;
          case F16 -> 0x1p-15;
          case BF16 -> 0x1p-8;
          default -> 0x1p-7;
        };
    double bound = 0;
    for (int i = 0; i < row.length; i++) {
      bound += Math.abs(row[i] * x.get(token, i)) * part + Math.abs(x.get(token, i)) * SUBNORMAL;
    }
    return bound;
  }
}
