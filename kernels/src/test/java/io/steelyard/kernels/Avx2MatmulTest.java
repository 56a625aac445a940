package io.steelyard.kernels;

import io.steelyard.kernels.machine.Cpu;

@NeedsAvx2
final class Avx2MatmulTest extends MatmulTest {
  Avx2MatmulTest() {
    super(Tier.AVX2);
  }

  /**
   * With quantised weights, 32 of few tokens' activations share a scale of 32,767 steps; with
   * AVX-VNNI those of many share one of 127.
   */
  @Override
  double rounding(DataType type, float[] row, Rows x, int token, int tokens) {
    boolean few = tokens <= MachineMatmul.FEW;
    boolean bytes = Cpu.features().contains(Cpu.Feature.AVX_VNNI);
    return type.blockSize() > 1 && (few || bytes)
        ? RandomData.sharedScaleError(row, x, token, few ? 32_767 : 127)
        : 0;
  }
}
