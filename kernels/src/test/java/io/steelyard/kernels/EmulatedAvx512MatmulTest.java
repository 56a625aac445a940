package io.steelyard.kernels;

/** The AVX-512 tier's products on any processor. */
final class EmulatedAvx512MatmulTest extends WideMatmulTest {
  EmulatedAvx512MatmulTest() {
    super(EmulatedKernels.of(Tier.AVX512), Sizes.SOME);
  }
}
