package io.steelyard.kernels;

/**
 * The gate to the vector tier. Nothing outside it touches a class of the incubator module, so a JVM
 * without that module runs everything else.
 */
final class VectorTier {
  private static final String MODULE = "jdk.incubator.vector";
  static final String FLAG = "--add-modules=" + MODULE;

  private VectorTier() {}

  static boolean available() {
    return ModuleLayer.boot().findModule(MODULE).isPresent();
  }

  static void require() {
    if (!available()) {
      throw new UnsupportedOperationException("the vector tier needs the JVM flag " + FLAG);
    }
  }

  static Kernels create(int threads, boolean deterministic) {
    require();
    return new VectorKernels(new ThreadTeam(threads), deterministic);
  }

  static String description() {
    return available() ? Width.DESCRIPTION : "vector (not available in this JVM)";
  }

  /** Asks for the width alone: loading the operators would take noticeable time. */
  private static final class Width {
    static final String DESCRIPTION =
        "vector " + jdk.incubator.vector.VectorShape.preferredShape().vectorBitSize() + "-bit";
  }
}
