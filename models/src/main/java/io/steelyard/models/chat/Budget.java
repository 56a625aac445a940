package io.steelyard.models.chat;

/**
 * What a template may still spend. Each step costs one and each 16 characters or elements made cost
 * one, so that neither time nor memory can be used up.
 */
final class Budget {
  static final int LONGEST = 1 << 24;
  private static final long STEPS = 20_000_000;
  private static final int DEEPEST = 400;

  private long left = STEPS;
  private int depth;

  void step() {
    spend(1);
  }

  /** Accounts for a text or list of this length before it is made. */
  void make(long length) {
    if (length > LONGEST) {
      throw new Value.Fault("it makes a text or list longer than " + LONGEST);
    }
    spend(1 + length / 16);
  }

  String made(String text) {
    make(text.length());
    return text;
  }

  private void spend(long steps) {
    left -= steps;
    if (left < 0) {
      throw new Value.Fault("it takes too long: more than " + STEPS + " steps");
    }
  }

  /** Goes one level deeper: into an expression, a body, a macro. */
  void enter() {
    step();
    if (++depth > DEEPEST) {
      throw new Value.Fault("it is nested, or calls itself, more than " + DEEPEST + " deep");
    }
  }

  void leave() {
    depth--;
  }
}
