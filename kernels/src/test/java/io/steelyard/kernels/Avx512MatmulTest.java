package io.steelyard.kernels;

@NeedsAvx512
final class Avx512MatmulTest extends WideMatmulTest {
  Avx512MatmulTest() {
    super(KernelsMaker.of(Tier.AVX512), Sizes.ALL);
  }
}
