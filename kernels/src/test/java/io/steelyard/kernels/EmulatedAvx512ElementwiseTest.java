package io.steelyard.kernels;

import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The AVX-512 tier's operators on rows, on any processor. */
@EnabledOnOs(OS.LINUX)
final class EmulatedAvx512ElementwiseTest extends ElementwiseTest {
  EmulatedAvx512ElementwiseTest() {
    super(EmulatedKernels.of(Tier.AVX512));
  }
}
