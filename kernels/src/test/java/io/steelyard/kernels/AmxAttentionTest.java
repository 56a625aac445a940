package io.steelyard.kernels;

@NeedsAmx
final class AmxAttentionTest extends TileAttentionTest {
  AmxAttentionTest() {
    super(KernelsMaker.of(Tier.AMX));
  }
}
