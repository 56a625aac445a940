package io.steelyard.kernels;

@NeedsAvx512
final class EmulatedTilesAttentionTest extends TileAttentionTest {
  EmulatedTilesAttentionTest() {
    super(EmulatedTiles::kernels);
  }
}
