package io.steelyard.kernels;

final class VectorAttentionTest extends AttentionTest {
  VectorAttentionTest() {
    super(Tier.VECTOR);
  }
}
