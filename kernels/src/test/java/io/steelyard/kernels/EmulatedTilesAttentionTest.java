package io.steelyard.kernels;

@NeedsAvx512
final class EmulatedTilesAttentionTest extends TileAttentionTest {
  EmulatedTilesAttentionTest() {
    super(Tier.AVX512, EmulatedTiles::kernels);
  }
}
