package io.steelyard.kernels;

/** The AVX-512 tier's operators on rows, on any processor. */
final class EmulatedAvx512ElementwiseTest extends ElementwiseTest {
  EmulatedAvx512ElementwiseTest() {
    super(EmulatedKernels.of(Tier.AVX512));
  }
}
