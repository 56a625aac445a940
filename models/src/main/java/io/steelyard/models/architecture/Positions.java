package io.steelyard.models.architecture;

import io.steelyard.kernels.Rope;

/**
 * How queries and keys are turned by their positions.
 *
 * @param usual the rotation
 * @param extended the rotation where the cache is longer than {@code upTo}; the usual one for most
 * @param upTo positions that the model was first trained for
 */
record Positions(Rope usual, Rope extended, int upTo) {
  Positions(Rope rope) {
    this(rope, rope, Integer.MAX_VALUE);
  }

  /** The rotation of a sequence whose cache holds so many positions. */
  Rope rope(int capacity) {
    return capacity > upTo ? extended : usual;
  }
}
