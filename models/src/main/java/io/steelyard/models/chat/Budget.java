package io.steelyard.models.chat;

/**
 * What a template may still spend: one for each step, for each item of a list and for each 16
 * characters that are made or compared, so that neither time nor memory can be used up.
 */
final class Budget {
  static final int LONGEST = 1 << 24;
  private static final long STEPS = 10_000_000;
  private static final int DEEPEST = 400;

  private long left = STEPS;
  private int depth;

  void step() {
    spend(1);
  }

  /** Accounts for a text of this length before it is made or gone through. */
  void make(long length) {
    if (length > LONGEST) {
      throw new Value.Fault("it makes a text longer than " + LONGEST);
    }
    spend(1 + length / 16);
  }

  /** Accounts for a list of this length before it is made. */
  void makeItems(long length) {
    spend(1 + Math.min(length, STEPS));
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
