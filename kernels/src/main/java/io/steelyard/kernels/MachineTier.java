package io.steelyard.kernels;

import io.steelyard.kernels.amx.Amx;
import io.steelyard.kernels.avx2.Avx2;
import io.steelyard.kernels.avx512.Avx512;
import io.steelyard.kernels.machine.MachineCode;
import java.util.EnumMap;
import java.util.Map;

/** The gate to the machine-code tiers. */
final class MachineTier {
  private static final Map<Tier, MachineCode> FOR_BANDS = new EnumMap<>(Tier.class);

  private MachineTier() {}

  /**
   * The functions that bands of attention call, assembled once: code stays mapped.
   *
   * @throws UnsupportedOperationException if this processor or JVM can't run them
   */
  static synchronized MachineCode forBands(Tier tier) {
    MachineCode known = FOR_BANDS.get(tier);
    if (known == null) {
      known = code(tier);
      MachineBand.prepare(known);
      if (known.tiles().isPresent()) {
        TileBand.prepare(known);
      }
      FOR_BANDS.put(tier, known);
    }
    return known;
  }

  /**
   * A tier's functions.
   *
   * @throws UnsupportedOperationException if this processor or JVM can't run them
   */
  static MachineCode code(Tier tier) {
    if (!Kernels.available(tier)) {
      throw new UnsupportedOperationException(
          "the " + tier.label() + " tier can't run here: " + Kernels.obstacle(tier));
    }
    return switch (tier) {
      case AVX2 -> new Avx2();
      case AVX512 -> new Avx512();
      case AMX -> new Amx();
      case REFERENCE, VECTOR ->
          throw new IllegalArgumentException("the " + tier.label() + " tier has no machine code");
    };
  }
}
