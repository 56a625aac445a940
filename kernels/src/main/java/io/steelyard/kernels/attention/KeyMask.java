package io.steelyard.kernels.attention;

import io.steelyard.kernels.ScoreFunction;

/**
 * Which single keys each query of a head sees. Different queries may be written by different
 * threads; read once all are written.
 */
final class KeyMask implements Mask {
  /** Keys that are attended or left out together: a word of the mask. */
  static final int BLOCK = Long.SIZE;

  /** More in one head is no mask but a mistake: 8 GiB. */
  private static final long MOST_WORDS = 1L << 30;

  private final int length;
  private final int words;
  private final long[][] rows;

  KeyMask(int length) {
    this.length = length;
    words = Math.ceilDiv(length, BLOCK);
    if ((long) words * length > MOST_WORDS) {
      throw new IllegalArgumentException(
          "a mask of the single keys of %d positions takes %d GiB a head: choose a pattern of blocks"
              .formatted(length, bytes(length) >> 30));
    }
    rows = new long[length][words];
  }

  /** Bytes of one head's mask. */
  static long bytes(int length) {
    return (long) length * Math.ceilDiv(length, BLOCK) * Long.BYTES;
  }

  void keep(int query, int key) {
    rows[query][key / BLOCK] |= 1L << key;
  }

  /**
   * Keeps the keys that have so much of a query's attention, and the largest in any case.
   *
   * @param end behind the last key that the query may see
   * @param scores of the keys before it; negative infinity for those that are not to be seen
   */
  void keepShares(int query, int end, float[] scores, double share) {
    double most = Double.NEGATIVE_INFINITY;
    for (int key = 0; key < end; key++) {
      most = Math.max(most, scores[key]);
    }
    double all = 0;
    for (int key = 0; key < end; key++) {
      all += scores[key] == Float.NEGATIVE_INFINITY ? 0 : Math.exp(scores[key] - most);
    }
    double least = most + Math.min(0, Math.log(share * all));
    for (int key = 0; key < end; key++) {
      if (scores[key] >= least) {
        keep(query, key);
      }
    }
  }

  @Override
  public long bytes() {
    return bytes(length);
  }

  @Override
  public boolean keeps(int query, int key) {
    return (rows[query][key / BLOCK] >>> key & 1) != 0;
  }

  /** What queries see by it: blocks of keys of which one of a band's queries sees some. */
  @Override
  public Sight sight(boolean causal) {
    return new Sight() {
      @Override
      public int block() {
        return BLOCK;
      }

      @Override
      public void runs(int query, int rows, Runs runs) {
        ScoreFunction hide =
            (score, row, key) -> keeps(query + row, key) ? score : ScoreFunction.HIDDEN;
        int from = -1;
        for (int word = 0; word <= words; word++) {
          boolean seen = word < words && isSeen(query, rows, word);
          if (seen && from < 0) {
            from = word * BLOCK;
          } else if (!seen && from >= 0) {
            runs.add(from, Math.min(word * BLOCK, end(query + rows - 1)), hide);
            from = -1;
          }
        }
      }

      @Override
      public int end(int query) {
        return causal ? query + 1 : length;
      }
    };
  }

  private boolean isSeen(int query, int count, int word) {
    for (int row = query; row < query + count; row++) {
      if (rows[row][word] != 0) {
        return true;
      }
    }
    return false;
  }
}
