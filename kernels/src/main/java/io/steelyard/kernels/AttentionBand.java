package io.steelyard.kernels;

/**
 * Attention of a band of one head's queries to keys that lie in panels, in one tier and by one
 * thread: what every variant of attention is made of. Scores are computed for some keys at a time,
 * and the softmax is taken along the way. The order of calls is {@link #begin}, any number of
 * {@link #meet}, {@link #finish}.
 *
 * <p>A row that sees no key gets zeros, and {@link #NO_KEYS} as the logarithm of its sum.
 *
 * <p>Source: Dao et al., "FlashAttention" (2022); Milakov and Gimelshein, "Online normalizer
 * calculation for softmax" (2018).
 */
public interface AttentionBand extends AutoCloseable {
  /** The most rows of a band. */
  int ROWS = 128;

  /** Keys are packed in pieces of so many, but for the last. */
  int PIECE = 96;

  /** The logarithm of no weight at all: the smallest finite float. */
  float NO_KEYS = -Float.MAX_VALUE;

  /** Bytes of the panels of so many keys and their values. */
  long panelBytes(int keys);

  /**
   * Writes keys and values into panels. Several threads may fill different pieces of the same.
   *
   * @param from the first to write, a multiple of {@link #PIECE}
   * @param to the one behind the last: a multiple of {@link #PIECE}, or {@code count}
   * @param panels address of {@link #panelBytes} bytes, on a cache line
   * @param count of all keys
   */
  void pack(StridedRows keys, StridedRows values, int from, int to, long panels, int count);

  /**
   * Takes queries and forgets the last ones.
   *
   * @param rows at most {@link #ROWS}
   * @param scale multiplies their products with keys
   */
  void begin(StridedRows queries, int rows, float scale);

  /**
   * Lets the rows see more keys.
   *
   * @param panels filled as far as {@code to}
   * @param count of all keys in the panels
   * @param from the first key that any row sees
   * @param to the one behind the last
   * @param first of each row: keys before this one are hidden from it
   * @param end of each row: this key and those behind it are hidden from it
   * @param function of every score that is not hidden, or null for none
   */
  void meet(
      long panels, int count, int from, int to, int[] first, int[] end, ScoreFunction function);

  /**
   * Writes the results.
   *
   * @param out rows in place of the queries, rounded to their type
   * @param logSums address of a float32 for each row, the logarithm of its sum of {@code
   *     exp(score)}; 0 for none
   * @param stride bytes from one of them to the next
   */
  void finish(StridedRows out, long logSums, long stride);

  /** Scores computed since the band was made, hidden ones too. */
  long scores();

  /** Bytes of scratch memory. */
  long scratchBytes();

  @Override
  void close();
}
