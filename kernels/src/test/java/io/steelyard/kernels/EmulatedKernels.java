package io.steelyard.kernels;

import io.steelyard.kernels.amx.Amx;
import io.steelyard.kernels.avx2.Avx2;
import io.steelyard.kernels.avx512.Avx512;
import io.steelyard.kernels.machine.EmulatedFunction;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode;

/** The operators of a machine-code tier, with an emulator as their processor. */
final class EmulatedKernels {
  /** A score's multiplications that take a moment. */
  static final long WORK = 1_000_000;

  private EmulatedKernels() {}

  /** What makes those of a tier. */
  static KernelsMaker of(Tier tier) {
    return (threads, deterministic) ->
        new MachineKernels(new ThreadTeam(threads), tier, code(tier), deterministic);
  }

  /** What makes those of AVX2 for a processor with AVX-VNNI, or without. */
  static KernelsMaker avx2(boolean vnni) {
    return (threads, deterministic) ->
        new MachineKernels(new ThreadTeam(threads), Tier.AVX2, avx2Code(vnni), deterministic);
  }

  /** The functions of {@link #avx2}. */
  static MachineCode avx2Code(boolean vnni) {
    return new Avx2() {
      @Override
      protected boolean vnni() {
        return vnni;
      }

      @Override
      protected Function ready(Function made) {
        return new EmulatedFunction(made);
      }
    };
  }

  /** The functions of a tier. */
  static MachineCode code(Tier tier) {
    return switch (tier) {
      case AVX2 -> avx2Code(false);
      case AVX512 ->
          new Avx512() {
            @Override
            protected Function ready(Function made) {
              return new EmulatedFunction(made);
            }
          };
      case AMX ->
          new Amx() {
            @Override
            protected Function ready(Function made) {
              return new EmulatedFunction(made);
            }
          };
      default -> throw new IllegalArgumentException(tier + " has no machine code");
    };
  }
}
