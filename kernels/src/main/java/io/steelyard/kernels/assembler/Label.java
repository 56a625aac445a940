package io.steelyard.kernels.assembler;

/** A place in the code that jumps lead to; one assembler's alone. */
public final class Label {
  static final int UNBOUND = -1;

  int position = UNBOUND;
}
