package io.steelyard.stats;

/** The checks that every method here makes of its numbers before it believes them. */
final class Checks {

  private Checks() {}

  /** Returns the values, or says which of them is not a finite number. */
  static double[] finite(double[] values, String name) {
    for (int i = 0; i < values.length; i++) {
      if (!Double.isFinite(values[i])) {
        throw new IllegalArgumentException(
            name + "[" + i + "] is " + values[i] + "; a sample holds finite numbers only");
      }
    }
    return values;
  }

  /** Returns the values, or says which of them is not above zero, as a ratio asks. */
  static double[] positive(double[] values, String name) {
    finite(values, name);
    for (int i = 0; i < values.length; i++) {
      if (!(values[i] > 0)) {
        throw new IllegalArgumentException(
            name + "[" + i + "] is " + values[i] + "; a ratio is defined for values above 0 only");
      }
    }
    return values;
  }

  /** Returns the level, or says that it is none. */
  static double level(double level) {
    if (!(level > 0 && level < 1)) {
      throw new IllegalArgumentException(
          "confidence level " + level + " is outside 0…1; 0.95 is usual");
    }
    return level;
  }
}
