package io.steelyard.kernels;

import java.util.Arrays;

/**
 * A band whose rows are multiplied in blocks, and meet as many keys at once as leave room in a
 * second-level cache for their scores.
 */
abstract class BlockedBand implements AttentionBand {
  /** Keys whose scores, with what they are made of, leave room in a second-level cache. */
  private static final int KEYS = 288;

  final CallList calls;
  final Scratch scratch = new Scratch();
  final int keysAtOnce;

  private final int blockRows;
  private final int unit;

  /** Whether a block's sums hold something. */
  private final boolean[] met;

  private int rows;
  private long scores;

  /**
   * A band.
   *
   * @param blockRows rows of a block
   * @param unit keys that a product takes at a time
   * @param keysAtOnce a multiple of the unit, or 0
   */
  BlockedBand(CallList calls, int blockRows, int unit, int keysAtOnce) {
    this.calls = calls;
    this.blockRows = blockRows;
    this.unit = unit;
    this.keysAtOnce = keysAtOnce == 0 ? KEYS : keysAtOnce;
    met = new boolean[Math.ceilDiv(ROWS, blockRows)];
  }

  /** Begins with so many rows. */
  final void forget(int rows) {
    this.rows = rows;
    Arrays.fill(met, false);
  }

  final int rows() {
    return rows;
  }

  final int blocks() {
    return Math.ceilDiv(rows, blockRows);
  }

  /** The row behind a block's last. */
  final int endOf(int block) {
    return Math.min(rows, (block + 1) * blockRows);
  }

  /** Whether a block's sums hold something. */
  final boolean hasMet(int block) {
    return met[block];
  }

  @Override
  public final void meet(
      long panels, int count, int from, int to, int[] first, int[] end, ScoreFunction function) {
    for (int key = from / unit * unit; key < to; key += keysAtOnce) {
      for (int block = 0; block < blocks(); block++) {
        int begin = Integer.MAX_VALUE;
        int stop = 0;
        for (int row = block * blockRows; row < endOf(block); row++) {
          begin = Math.min(begin, first[row]);
          stop = Math.max(stop, end[row]);
        }
        begin = Math.max(Math.max(begin, from) / unit * unit, key);
        stop = Math.min(Math.min(stop, to), key + keysAtOnce);
        if (begin < stop) {
          scores += step(panels, count, block, begin, stop, from, first, end, function);
          met[block] = true;
        }
      }
    }
  }

  /**
   * A block of rows meets keys from a unit's beginning on, of which it sees those that are seen at
   * all. See {@link #meet} for the others.
   *
   * @param stop the key behind the last of these
   * @return scores computed
   */
  abstract long step(
      long panels,
      int count,
      int block,
      int key,
      int stop,
      int from,
      int[] first,
      int[] end,
      ScoreFunction function);

  @Override
  public final long scores() {
    return scores;
  }

  @Override
  public final long scratchBytes() {
    return scratch.bytes();
  }

  @Override
  public final void close() {
    calls.close();
    scratch.close();
  }
}
