package io.steelyard.kernels;

@NeedsAvx512
final class EmulatedTilesMatmulTest extends TileMatmulTest {
  EmulatedTilesMatmulTest() {
    super(Tier.AVX512, EmulatedTiles::kernels);
  }
}
