package io.steelyard.kernels;

@NeedsAvx512
final class Avx512AttentionTest extends AttentionTest {
  Avx512AttentionTest() {
    super(Tier.AVX512);
  }
}
