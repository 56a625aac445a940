package io.steelyard.kernels.attention;

/**
 * What runs of attention did, by count.
 *
 * @param scores score entries computed, hidden ones and chosen ones too
 * @param chosen those of them that were computed to choose what is seen: products of queries with
 *     keys, with means of keys or with what bounds them
 * @param bytesMoved bytes read and written: inputs, panels and copies as often as each was used,
 *     and results
 * @param scratchBytes the most scratch memory that was held
 */
public record Counts(long scores, long chosen, long bytesMoved, long scratchBytes) {
  /** What was done since an earlier count. */
  public Counts since(Counts before) {
    return new Counts(
        scores - before.scores,
        chosen - before.chosen,
        bytesMoved - before.bytesMoved,
        scratchBytes);
  }
}
