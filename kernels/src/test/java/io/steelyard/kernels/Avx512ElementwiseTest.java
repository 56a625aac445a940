package io.steelyard.kernels;

@NeedsAvx512
final class Avx512ElementwiseTest extends ElementwiseTest {
  Avx512ElementwiseTest() {
    super(Tier.AVX512);
  }
}
