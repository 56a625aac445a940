package io.steelyard.kernels;

/** The AVX-512 tier's attention on any processor. */
final class EmulatedAvx512AttentionTest extends AttentionTest {
  EmulatedAvx512AttentionTest() {
    super(EmulatedKernels.of(Tier.AVX512), EmulatedKernels.WORK);
  }
}
