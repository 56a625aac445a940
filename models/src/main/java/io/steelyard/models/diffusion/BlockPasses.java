package io.steelyard.models.diffusion;

import io.steelyard.models.Session;
import java.util.function.IntPredicate;

/**
 * The passes over one block: the first computes the whole sequence, the others what the cache
 * doesn't keep.
 *
 * <p>The position before the block's first mask is computed with the block, because its logits tell
 * that mask.
 */
final class BlockPasses {
  private final Session session;
  private final int from;
  private final int to;
  private boolean begun;

  /**
   * Passes over a block.
   *
   * @param first the block's first mask
   * @param end the position behind the block
   * @param length of the sequence
   */
  BlockPasses(Session session, Blocks.Cache cache, int first, int end, int length) {
    this.session = session;
    from = cache == Blocks.Cache.NONE ? 0 : Math.max(0, first - 1);
    to = cache == Blocks.Cache.DUAL ? end : length;
  }

  /** Runs the next one and tells the logits of wanted positions. */
  void run(int[] sequence, IntPredicate wanted, Session.PositionSink sink) {
    if (begun) {
      session.forward(sequence, from, to, wanted, sink);
    } else {
      session.truncate(0);
      session.forward(sequence, 0, sequence.length, wanted, sink);
      begun = true;
    }
  }
}
