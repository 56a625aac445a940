package io.steelyard.kernels;

/** Attention in tiles of bf16. */
abstract class TileAttentionTest extends AttentionTest {
  /**
   * What many tokens' queries, keys, weights and values keep is 16 bits, of a weight one less: a
   * score is a sum of up to 128 products between -1 and 1, scaled by the root of as many.
   */
  private static final double ROUNDED = 1e-4;

  TileAttentionTest(KernelsMaker made) {
    super(made);
  }

  TileAttentionTest(KernelsMaker made, long work) {
    super(made, work);
  }

  @Override
  double tolerance(DataType type, int tokens) {
    return type == DataType.F32 || tokens <= MachineMatmul.FEW
        ? super.tolerance(type, tokens)
        : ROUNDED;
  }
}
