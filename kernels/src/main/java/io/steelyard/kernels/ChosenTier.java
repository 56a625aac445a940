package io.steelyard.kernels;

import java.util.function.Predicate;

/**
 * The tier that serves, and what there is to say of it.
 *
 * @param notice a line for the user where no tier was asked for and no machine code runs: which one
 *     serves instead, and why; empty otherwise
 */
public record ChosenTier(Tier tier, String notice) {
  /** The fastest that this JVM can run. */
  public static ChosenTier here() {
    return fastest(Kernels::available, Kernels.obstacle(Tier.AVX2));
  }

  /** The fastest on this machine of a JVM that gets {@link Kernels#VECTOR_FLAG} if it needs it. */
  public static ChosenTier withVectors() {
    return fastest(
        tier -> tier == Tier.VECTOR || Kernels.available(tier), Kernels.obstacle(Tier.AVX2));
  }

  /** One that was asked for. */
  public static ChosenTier asked(Tier tier) {
    return new ChosenTier(tier, "");
  }

  /**
   * The fastest of those that run.
   *
   * @param obstacle why no machine code does, if none does
   */
  static ChosenTier fastest(Predicate<Tier> runs, String obstacle) {
    Tier fastest = Tier.REFERENCE;
    for (Tier tier : Tier.values()) {
      fastest = runs.test(tier) ? tier : fastest;
    }
    String serves =
        "no machine-code kernels (%s): the %s tier serves".formatted(obstacle, fastest.label());
    return new ChosenTier(
        fastest,
        switch (fastest) {
          case REFERENCE ->
              serves + ", which is slow; the vector tier needs the JVM flag " + Kernels.VECTOR_FLAG;
          case VECTOR -> serves;
          case AVX2, AVX512, AMX -> "";
        });
  }
}
