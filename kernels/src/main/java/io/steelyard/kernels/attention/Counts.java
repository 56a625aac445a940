package io.steelyard.kernels.attention;

/**
 * What runs of attention did, by count.
 *
 * @param scores score entries computed, hidden ones too
 * @param bytesMoved bytes read and written: inputs, panels and copies as often as each was used,
 *     and results
 * @param scratchBytes the most scratch memory that was held
 */
public record Counts(long scores, long bytesMoved, long scratchBytes) {
  /** What was done since an earlier count. */
  public Counts since(Counts before) {
    return new Counts(scores - before.scores, bytesMoved - before.bytesMoved, scratchBytes);
  }
}
