package io.steelyard.kernels.attention;

/**
 * Attention of one's own: which keys a query sees, and what becomes of their scores. Positions
 * count from 0. Asked by several threads, for the same answers each time.
 *
 * <p>Source of the idea: Dong et al., "FlexAttention" (2024).
 */
@FunctionalInterface
public interface FlexRule {
  /** How much of a block of queries and keys is seen. */
  enum Coverage {
    NONE,
    SOME,
    ALL
  }

  /** Whether a query sees a key. */
  boolean sees(int batch, int head, int query, int key);

  /** What a scaled score becomes; it stays as it is where {@link #changesScores} is false. */
  default float score(float score, int batch, int head, int query, int key) {
    return score;
  }

  /** Whether {@link #score} does anything. */
  default boolean changesScores() {
    return false;
  }

  /**
   * How much of a block is seen. What a rule knows it should say: this asks for every pair.
   *
   * @param query the first query; {@code queryEnd} is the one behind the last
   */
  default Coverage coverage(int batch, int head, int query, int queryEnd, int key, int keyEnd) {
    boolean some = false;
    boolean all = true;
    for (int q = query; q < queryEnd; q++) {
      for (int k = key; k < keyEnd; k++) {
        boolean seen = sees(batch, head, q, k);
        some |= seen;
        all &= seen;
      }
    }
    return all ? Coverage.ALL : some ? Coverage.SOME : Coverage.NONE;
  }

  /** Both rules: what both see, scores changed by this and then by the other. */
  default FlexRule and(FlexRule other) {
    return FlexRules.both(this, other);
  }
}
