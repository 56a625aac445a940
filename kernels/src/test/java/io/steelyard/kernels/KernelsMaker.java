package io.steelyard.kernels;

/** Makes the operators that a test tests. */
interface KernelsMaker {
  Kernels make(int threads, boolean deterministic);

  /** Those of a tier, as programs get them. */
  static KernelsMaker of(Tier tier) {
    return (threads, deterministic) -> Kernels.of(tier, threads, deterministic);
  }
}
