package io.steelyard.kernels.attention;

/** What a variant makes of inputs: how to compute the result, and what it is by definition. */
public interface Plan extends AutoCloseable {
  /** Computes every result, those of queries that see no key too. */
  void run(AttentionOutputs outputs);

  /**
   * The definition: how often a key stands in the softmax of a query. 0 for a key that isn't seen;
   * more than 1 where several branches see it and are merged by their sums.
   */
  int times(int batch, int head, int query, int key);

  /** The definition: what becomes of a score. */
  default double score(double score, int batch, int head, int query, int key) {
    return score;
  }

  /**
   * The definition of a whole row.
   *
   * @param out receives the result
   * @return the logarithm of the sum of {@code exp(score)}, {@link
   *     io.steelyard.kernels.AttentionBand#NO_KEYS} if no key is seen
   */
  default double row(AttentionInputs inputs, int batch, int head, int query, double[] out) {
    return Oracle.row(inputs, this, batch, head, query, out);
  }

  /** Gives back what the plan holds. */
  @Override
  default void close() {
    // Most hold nothing.
  }
}
