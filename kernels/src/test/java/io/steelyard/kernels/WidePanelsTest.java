package io.steelyard.kernels;

import io.steelyard.kernels.avx512.Avx512;
import io.steelyard.kernels.machine.Product;
import java.util.Optional;

/**
 * What the AMX tier does to quantised weights and activations, on processors without AMX: the same
 * panels, multiplied by the AVX-512 product of bf16 pairs.
 */
@NeedsAvx512
final class WidePanelsTest extends MatmulTest {
  WidePanelsTest() {
    super(
        Tier.AVX512,
        threads ->
            new MachineKernels(
                new ThreadTeam(threads),
                Tier.AVX512,
                new Avx512(Optional.of(Product.BF16)),
                false));
  }

  /** For many tokens both weights and activations are rounded to 8 bits, but for F16 and F32. */
  @Override
  double rounding(DataType type, float[] row, Rows x, int token, int tokens) {
    if (tokens <= MachineMatmul.FEW) {
      return Avx512MatmulTest.roundingOfFew(type, row, x, token);
    }
    double bound = 0;
    if (type != DataType.F32 && type != DataType.F16) {
      for (int i = 0; i < row.length; i++) {
        bound += Math.abs(row[i] * x.get(token, i)) * 0x1p-7;
      }
    }
    return bound;
  }
}
