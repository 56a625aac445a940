package io.steelyard.kernels;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The AVX-512 tier's products of all sizes, on any processor. */
@Tag("soak")
@EnabledOnOs(OS.LINUX)
final class EmulatedAvx512MatmulSoakTest extends WideMatmulTest {
  EmulatedAvx512MatmulSoakTest() {
    super(EmulatedKernels.of(Tier.AVX512), Sizes.ALL);
  }
}
