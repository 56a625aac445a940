package io.steelyard.kernels.assembler;

/** When a conditional jump is taken, after a comparison {@code a, b}. */
public enum Condition {
  /** Unsigned {@code a < b}. */
  BELOW(2),
  /** Unsigned {@code a >= b}. */
  NOT_BELOW(3),
  EQUAL(4),
  NOT_EQUAL(5),
  /** Signed {@code a < b}. */
  LESS(12),
  NOT_LESS(13),
  NOT_GREATER(14),
  /** Signed {@code a > b}. */
  GREATER(15);

  final int code;

  Condition(int code) {
    this.code = code;
  }
}
