package io.steelyard.kernels;

/** What becomes of a score between the product of query and key and the softmax. */
@FunctionalInterface
public interface ScoreFunction {
  /** What hides a key from a query: the smallest finite float. */
  float HIDDEN = -Float.MAX_VALUE;

  /**
   * The new score.
   *
   * @param score of the scaled product
   * @param row of the band
   * @param key of the sequence that was packed
   * @return any finite number, or {@link #HIDDEN}
   */
  float apply(float score, int row, int key);
}
