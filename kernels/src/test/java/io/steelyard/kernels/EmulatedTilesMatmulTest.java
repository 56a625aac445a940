package io.steelyard.kernels;

@NeedsAvx512
final class EmulatedTilesMatmulTest extends TileMatmulTest {
  EmulatedTilesMatmulTest() {
    super(EmulatedTiles::kernels);
  }
}
