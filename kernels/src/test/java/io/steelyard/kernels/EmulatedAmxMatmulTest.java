package io.steelyard.kernels;

import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The AMX tier's products on any processor. */
@EnabledOnOs(OS.LINUX)
final class EmulatedAmxMatmulTest extends TileMatmulTest {
  EmulatedAmxMatmulTest() {
    super(EmulatedKernels.of(Tier.AMX), Sizes.SOME);
  }
}
