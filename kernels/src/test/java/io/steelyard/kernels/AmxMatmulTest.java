package io.steelyard.kernels;

@NeedsAmx
final class AmxMatmulTest extends TileMatmulTest {
  AmxMatmulTest() {
    super(KernelsMaker.of(Tier.AMX));
  }
}
