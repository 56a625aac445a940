package io.steelyard.kernels.attention;

/** Which blocks block-sparse attention keeps. */
enum BlockPattern {
  /** Blocks near the diagonal: {@code |i - j| ≤ ⌊window/B/2⌋}. */
  LOCAL_WINDOW,
  /** The diagonal and its parallels at the first three rates: {@code i, i ± r}. */
  DILATED_SPARSE,
  /** Blocks near the diagonal, and the first ones as rows and columns. */
  GLOBAL_LOCAL,
  /**
   * Of the nearest 256 positions every 64th, of the nearest 1,024 every 256th, of all every
   * 1,024th: blocks that hold such a position.
   */
  HIERARCHICAL,
  /** Blocks near the diagonal, and every so-manieth column. */
  STRIDED,
  /** The diagonal and as many others as the density asks for, drawn by the seed. */
  RANDOM,
  /** Those whose mean query and mean key have the largest product, as the density asks for. */
  ADAPTIVE,
  /** Those of which a trained scorer foresees the most attention, by {@link Learned}. */
  LEARNED;

  /** Whether a parameter means something to it. */
  boolean uses(String parameter) {
    return switch (parameter) {
      case "block" -> true;
      case "window" -> this == LOCAL_WINDOW || this == GLOBAL_LOCAL || this == STRIDED;
      case "rates" -> this == DILATED_SPARSE;
      case "global" -> this == GLOBAL_LOCAL;
      case "stride" -> this == STRIDED;
      case "density" -> this == RANDOM || this == ADAPTIVE;
      case "seed" -> this == RANDOM;
      default -> false;
    };
  }
}
