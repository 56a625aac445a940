package io.steelyard.kernels;

import io.steelyard.kernels.avx2.Avx2;
import io.steelyard.kernels.avx2.Dot;

/**
 * What the AVX2 tier does on processors with AVX-VNNI, with the instruction as AVX-512 encodes it.
 */
@NeedsAvx512
final class BytesOfAvx2Test extends MatmulTest {
  BytesOfAvx2Test() {
    super(
        Tier.AVX2,
        threads ->
            new MachineKernels(
                new ThreadTeam(threads), Tier.AVX2, new Avx2(Dot.VNNI_OF_AVX512), false));
  }

  /** With quantised weights, 32 activations share a scale. */
  @Override
  double rounding(DataType type, float[] row, Rows x, int token, int tokens) {
    int steps = tokens <= MachineMatmul.FEW ? 32_767 : 127;
    return type.blockSize() > 1 ? RandomData.sharedScaleError(row, x, token, steps) : 0;
  }
}
