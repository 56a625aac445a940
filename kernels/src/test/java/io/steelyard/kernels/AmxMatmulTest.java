package io.steelyard.kernels;

@NeedsAmx
final class AmxMatmulTest extends TileMatmulTest {
  AmxMatmulTest() {
    super(Tier.AMX, threads -> Kernels.of(Tier.AMX, threads));
  }
}
