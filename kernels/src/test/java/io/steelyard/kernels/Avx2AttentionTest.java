package io.steelyard.kernels;

@NeedsAvx2
final class Avx2AttentionTest extends AttentionTest {
  Avx2AttentionTest() {
    super(Tier.AVX2);
  }
}
