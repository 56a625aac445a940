package io.steelyard.kernels;

import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The AVX-512 tier's attention on any processor. */
@EnabledOnOs(OS.LINUX)
final class EmulatedAvx512AttentionTest extends AttentionTest {
  EmulatedAvx512AttentionTest() {
    super(EmulatedKernels.of(Tier.AVX512), EmulatedKernels.WORK);
  }
}
