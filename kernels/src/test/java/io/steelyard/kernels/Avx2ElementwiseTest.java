package io.steelyard.kernels;

@NeedsAvx2
final class Avx2ElementwiseTest extends ElementwiseTest {
  Avx2ElementwiseTest() {
    super(Tier.AVX2);
  }
}
