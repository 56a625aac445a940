package io.steelyard.kernels;

import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The AVX-512 tier's products on any processor. */
@EnabledOnOs(OS.LINUX)
final class EmulatedAvx512MatmulTest extends WideMatmulTest {
  EmulatedAvx512MatmulTest() {
    super(EmulatedKernels.of(Tier.AVX512), Sizes.SOME);
  }
}
