package io.steelyard.kernels;

/** The AMX tier's products on any processor. */
final class EmulatedAmxMatmulTest extends TileMatmulTest {
  EmulatedAmxMatmulTest() {
    super(EmulatedKernels.of(Tier.AMX), Sizes.SOME);
  }
}
