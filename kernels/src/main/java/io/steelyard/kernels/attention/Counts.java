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

  /** Share of dense attention's scores that were computed. */
  public double executed(AttentionShape shape) {
    return (double) scores / shape.scores();
  }

  /** Floating-point operations: two products a score, of two operations a value. */
  public double operations(AttentionShape shape) {
    return 4.0 * scores * shape.dimension();
  }
}
