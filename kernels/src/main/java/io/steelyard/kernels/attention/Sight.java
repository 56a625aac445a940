package io.steelyard.kernels.attention;

import io.steelyard.kernels.AttentionBand;
import io.steelyard.kernels.ScoreFunction;
import java.util.function.IntUnaryOperator;

/**
 * Which of a sequence's keys its queries see. Queries and keys are counted within the sequence that
 * is attended, not by their positions. Asked by several threads.
 */
interface Sight {
  /** Receives runs of keys. */
  @FunctionalInterface
  interface Runs {
    /**
     * A run, each behind the last.
     *
     * @param function of its scores, or null for none
     */
    void add(int from, int to, ScoreFunction function);
  }

  /** Queries of one band see the same runs: a band crosses no multiple of this. */
  default int block() {
    return Integer.MAX_VALUE;
  }

  /** Names the keys that some of the queries may see. */
  void runs(int query, int rows, Runs runs);

  /** The first key that a query sees. */
  default int first(int query) {
    return 0;
  }

  /** The one behind the last key that a query sees. */
  int end(int query);

  /** All of so many keys. */
  static Sight all(int keys) {
    return new Sight() {
      @Override
      public void runs(int query, int rows, Runs runs) {
        runs.add(0, keys, null);
      }

      @Override
      public int end(int query) {
        return keys;
      }
    };
  }

  /**
   * Keys up to the query's own and so many behind it.
   *
   * @param ahead may be negative, where keys begin after the queries
   */
  static Sight upTo(int keys, int ahead) {
    return before(query -> Math.clamp((long) query + 1 + ahead, 0, keys));
  }

  /**
   * A query sees all keys before one.
   *
   * @param end that key by the query; it never falls
   */
  static Sight before(IntUnaryOperator end) {
    return new Sight() {
      @Override
      public void runs(int query, int rows, Runs runs) {
        int last = end(query + rows - 1);
        if (last > 0) {
          runs.add(0, last, null);
        }
      }

      @Override
      public int end(int query) {
        return end.applyAsInt(query);
      }
    };
  }

  /** What a query of a sequence sees of the same sequence. */
  static Sight of(int keys, boolean causal) {
    return causal ? upTo(keys, 0) : all(keys);
  }

  /** How many queries a band has that begins with one. */
  static int bandRows(Sight sight, int query, int queries) {
    int block = sight.block();
    long boundary = ((long) query / block + 1) * block;
    return (int) Math.min(Math.min(queries - (long) query, AttentionBand.ROWS), boundary - query);
  }
}
