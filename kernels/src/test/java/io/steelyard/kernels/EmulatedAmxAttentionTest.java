package io.steelyard.kernels;

/** The AMX tier's attention on any processor. */
final class EmulatedAmxAttentionTest extends TileAttentionTest {
  EmulatedAmxAttentionTest() {
    super(EmulatedKernels.of(Tier.AMX), EmulatedKernels.WORK);
  }
}
