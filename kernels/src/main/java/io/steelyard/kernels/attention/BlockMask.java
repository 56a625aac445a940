package io.steelyard.kernels.attention;

import java.util.Arrays;
import java.util.BitSet;

/** Which blocks of keys each block of queries sees, square blocks of one size. Immutable. */
final class BlockMask implements Mask {
  /** A mask of so many blocks in a square takes 128 MB. */
  private static final int MOST_BLOCKS = 1 << 15;

  private final int block;
  private final int length;
  private final BitSet[] rows;

  /** Says whether a block of queries sees one of keys. */
  @FunctionalInterface
  interface Rule {
    boolean keeps(int queryBlock, int keyBlock);
  }

  private BlockMask(int length, int block, BitSet[] rows) {
    this.length = length;
    this.block = block;
    this.rows = rows;
  }

  /**
   * How many blocks a sequence has.
   *
   * @throws IllegalArgumentException if a mask of them would be too large
   */
  static int blocks(int length, int block) {
    int blocks = Math.ceilDiv(length, block);
    if (blocks > MOST_BLOCKS) {
      throw new IllegalArgumentException(
          "%d positions are %d blocks of %d, too many for a mask: choose blocks of at least %d"
              .formatted(length, blocks, block, Math.ceilDiv(length, MOST_BLOCKS)));
    }
    return blocks;
  }

  /** Bytes of a mask that keeps as far as the last block. */
  static long bytes(int length, int block) {
    long blocks = blocks(length, block);
    return blocks * Math.ceilDiv(blocks, Long.SIZE) * Long.BYTES;
  }

  /** The mask of a rule; where it is causal, blocks that lie ahead are never kept. */
  static BlockMask of(int length, int block, boolean causal, Rule rule) {
    int blocks = blocks(length, block);
    BitSet[] rows = new BitSet[blocks];
    for (int i = 0; i < blocks; i++) {
      rows[i] = new BitSet(blocks);
      int end = causal ? i + 1 : blocks;
      for (int j = 0; j < end; j++) {
        rows[i].set(j, rule.keeps(i, j));
      }
    }
    return new BlockMask(length, block, rows);
  }

  /** A mask of rows that were chosen one by one. */
  static BlockMask of(int length, int block, BitSet[] rows) {
    return new BlockMask(length, block, rows);
  }

  /** How many blocks are kept. */
  long blocks() {
    return Arrays.stream(rows).mapToLong(BitSet::cardinality).sum();
  }

  /** Positions of a block. */
  int block() {
    return block;
  }

  boolean keepsBlock(int queryBlock, int keyBlock) {
    return rows[queryBlock].get(keyBlock);
  }

  @Override
  public long bytes() {
    return Arrays.stream(rows).mapToLong(row -> row.size() / Byte.SIZE).sum();
  }

  @Override
  public boolean keeps(int query, int key) {
    return rows[query / block].get(key / block);
  }

  /** Names the keys of kept blocks up to one of them. */
  void runs(int queryBlock, int endBlock, Sight.Runs runs) {
    BitSet row = rows[queryBlock];
    for (int from = row.nextSetBit(0); from >= 0 && from < endBlock; ) {
      int to = Math.min(row.nextClearBit(from), endBlock);
      runs.add(from * block, (int) Math.min((long) to * block, length), null);
      from = row.nextSetBit(to);
    }
  }

  /** What queries see by it. */
  @Override
  public Sight sight(boolean causal) {
    return new Sight() {
      @Override
      public int block() {
        return block;
      }

      @Override
      public void runs(int query, int rows, Runs runs) {
        BitSet row = BlockMask.this.rows[query / block];
        int last = end(query + rows - 1);
        for (int from = row.nextSetBit(0); from >= 0; ) {
          int to = row.nextClearBit(from);
          int end = (int) Math.min((long) to * block, last);
          if (from * block < end) {
            runs.add(from * block, end, null);
          }
          from = row.nextSetBit(to);
        }
      }

      @Override
      public int end(int query) {
        return causal ? query + 1 : length;
      }
    };
  }
}
