package io.steelyard.models.architecture;

import io.steelyard.kernels.Rope;
import io.steelyard.kernels.Rows;

/**
 * How queries and keys are turned by their positions.
 *
 * @param usual the rotation
 * @param extended the rotation of sequences longer than {@code upTo}, of the same layout and
 *     dimensions; the usual one for most
 * @param upTo positions that the model was first trained for
 */
record Positions(Rope usual, Rope extended, int upTo) {
  Positions(Rope rope) {
    this(rope, rope, Integer.MAX_VALUE);
  }

  /**
   * Computes the angles of a sequence's tokens.
   *
   * @param extended whether the sequence is longer than {@code upTo}
   * @param out receives one row a token
   */
  void angles(boolean extended, int position, int tokens, Rows out) {
    (extended ? this.extended : usual).angles(position, tokens, out);
  }
}
