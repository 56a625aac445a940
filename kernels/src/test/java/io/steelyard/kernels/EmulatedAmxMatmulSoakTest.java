package io.steelyard.kernels;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The AMX tier's products of all sizes, on any processor. */
@Tag("soak")
@EnabledOnOs(OS.LINUX)
final class EmulatedAmxMatmulSoakTest extends TileMatmulTest {
  EmulatedAmxMatmulSoakTest() {
    super(EmulatedKernels.of(Tier.AMX), Sizes.ALL);
  }
}
