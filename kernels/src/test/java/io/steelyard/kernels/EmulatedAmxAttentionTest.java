package io.steelyard.kernels;

import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The AMX tier's attention on any processor. */
@EnabledOnOs(OS.LINUX)
final class EmulatedAmxAttentionTest extends TileAttentionTest {
  EmulatedAmxAttentionTest() {
    super(EmulatedKernels.of(Tier.AMX), EmulatedKernels.WORK);
  }
}
