package io.steelyard.kernels.attention;

import java.util.Arrays;

/** The single keys of blocks that were chosen: those that have some share of the attention. */
final class KeysOfBlocks {
  private KeysOfBlocks() {}

  /**
   * Masks of all heads.
   *
   * @param share of the attention that a query gives to all keys of its kept blocks
   */
  static KeyMask[] of(
      AttentionInputs inputs, Workbench workbench, BlockMask[] blocks, double share) {
    AttentionShape shape = inputs.shape();
    KeyMask[] masks = new KeyMask[blocks.length];
    for (int i = 0; i < masks.length; i++) {
      int batch = i / shape.heads();
      int head = i % shape.heads();
      BlockMask kept = blocks[i];
      KeyMask mask = new KeyMask(shape.length());
      KeyColumns keys =
          KeyColumns.of(
              inputs.keys(batch, head / shape.group()), shape.length(), shape.dimension());
      workbench.parallel(
          Math.ceilDiv(shape.length(), KeyMask.BLOCK),
          (part, _) -> {
            float[] query = new float[shape.dimension()];
            float[] scores = new float[shape.length()];
            long computed = 0;
            int to = shape.length() - part * KeyMask.BLOCK;
            for (int row = Math.max(0, to - KeyMask.BLOCK); row < to; row++) {
              KeyColumns.scaled(inputs.queries(batch, head), row, shape.scale(), query);
              computed += scores(kept, keys, query, row, shape.causal(), scores);
              mask.keepShares(row, shape.causal() ? row + 1 : shape.length(), scores, share);
            }
            workbench.scored(computed, shape.dimension(), Float.BYTES);
          });
      masks[i] = mask;
    }
    workbench.holds(
        MaskPlan.bytes(masks)
            + MaskPlan.bytes(blocks)
            + Estimate.columns(shape.length(), 0, shape.dimension()));
    return masks;
  }

  /** Scores of the keys of kept blocks; returns how many. */
  private static long scores(
      BlockMask kept, KeyColumns keys, float[] query, int row, boolean causal, float[] scores) {
    int end = causal ? row + 1 : keys.count();
    Arrays.fill(scores, 0, end, Float.NEGATIVE_INFINITY);
    long[] computed = {0};
    kept.runs(
        row / kept.block(),
        Math.ceilDiv(end, kept.block()),
        (from, to, _) -> {
          int last = Math.min(to, end);
          keys.products(query, from, last, scores);
          computed[0] += last - from;
        });
    return computed[0];
  }
}
