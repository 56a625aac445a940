package io.steelyard.kernels;

@NeedsAmx
final class AmxAttentionTest extends TileAttentionTest {
  AmxAttentionTest() {
    super(Tier.AMX, threads -> Kernels.of(Tier.AMX, threads));
  }
}
