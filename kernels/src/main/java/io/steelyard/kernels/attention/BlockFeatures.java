package io.steelyard.kernels.attention;

import io.steelyard.kernels.StridedRows;
import java.util.List;

/**
 * What a scorer knows of a block of queries and one of keys, of one head, without having seen all
 * their scores: the score of the mean query with every key, of every query with the mean key, a
 * bound, and where the blocks are. Scores are taken relative to the whole row's, as logarithms of
 * shares, so that they mean the same in every row, head and model.
 */
final class BlockFeatures {
  /** In the order in which {@link #row} gives them. */
  static final List<String> NAMES =
      List.of(
          "constant", "mean_query", "mean_key", "bound", "distance", "own", "previous", "first");

  /** A logarithm of a share under this is as good as none. */
  private static final float LEAST = -20;

  /** A bound so far above the row's sum says no more than this. */
  private static final float MOST = 20;

  private final AttentionShape shape;
  private final int block;
  private final StridedRows queries;
  private final KeyColumns keys;
  private final BlockBounds bounds;
  private final float[] logSizes;

  BlockFeatures(AttentionInputs inputs, int block, int batch, int head) {
    shape = inputs.shape();
    this.block = block;
    queries = inputs.queries(batch, head);
    keys =
        KeyColumns.of(inputs.keys(batch, head / shape.group()), shape.length(), shape.dimension());
    bounds = BlockBounds.of(keys, block);
    logSizes = new float[bounds.blocks()];
    for (int j = 0; j < logSizes.length; j++) {
      logSizes[j] = (float) Math.log(end(j) - j * block);
    }
  }

  int blocks() {
    return logSizes.length;
  }

  /** How many blocks of keys a block of queries sees. */
  int visible(int queryBlock) {
    return shape.causal() ? queryBlock + 1 : blocks();
  }

  /** The position behind a block's last one. */
  private int end(int index) {
    return (int) Math.min((index + 1L) * block, shape.length());
  }

  /**
   * Scores that are computed for a row: of the mean query and of each with the mean keys, and the
   * mean query's bounds.
   */
  long scores(int queryBlock) {
    int visible = visible(queryBlock);
    long withMeans = (long) (end(queryBlock) - queryBlock * block) * visible;
    return end(visible - 1) + withMeans + (long) BlockBounds.PRODUCTS * visible;
  }

  /**
   * The features of a block of queries with every block of keys that it sees.
   *
   * @param out receives {@link #NAMES} values a block, one block after the other
   */
  void row(int queryBlock, float[] out) {
    int visible = visible(queryBlock);
    float[] mean = meanQuery(queryBlock);
    float[] shares = new float[visible];
    float all = ofMeanQuery(mean, visible, shares);
    float[] ofKeys = ofMeanKeys(queryBlock, visible);
    float[] bound = new float[visible];
    bounds.of(mean, visible, bound);
    for (int j = 0; j < visible; j++) {
      int at = j * NAMES.size();
      int distance = Math.abs(queryBlock - j);
      out[at] = 1;
      out[at + 1] = Math.max(LEAST, shares[j] - all);
      out[at + 2] = Math.max(LEAST, ofKeys[j]);
      out[at + 3] = Math.clamp(bound[j] + logSizes[j] - all, LEAST, MOST);
      out[at + 4] = (float) Math.log1p(distance);
      out[at + 5] = distance == 0 ? 1 : 0;
      out[at + 6] = distance == 1 ? 1 : 0;
      out[at + 7] = j == 0 ? 1 : 0;
    }
  }

  private float[] meanQuery(int queryBlock) {
    float[] sum = new float[shape.dimension()];
    float[] query = new float[shape.dimension()];
    int from = queryBlock * block;
    int to = end(queryBlock);
    for (int row = from; row < to; row++) {
      KeyColumns.scaled(queries, row, shape.scale() / (to - from), query);
      for (int d = 0; d < sum.length; d++) {
        sum[d] += query[d];
      }
    }
    return sum;
  }

  /** Logarithms of each block's sum of exp(score) of a query; returns that of all. */
  private float ofMeanQuery(float[] query, int visible, float[] out) {
    int to = end(visible - 1);
    float[] scores = new float[to];
    keys.products(query, 0, to, scores);
    for (int j = 0; j < visible; j++) {
      out[j] = logSum(scores, j * block, end(j));
    }
    return logSum(out, 0, visible);
  }

  /** Logarithms of the mean share that queries give to a block by its mean key. */
  private float[] ofMeanKeys(int queryBlock, int visible) {
    float[] query = new float[shape.dimension()];
    float[] scores = new float[visible];
    double[] shares = new double[visible];
    int from = queryBlock * block;
    int to = end(queryBlock);
    for (int row = from; row < to; row++) {
      KeyColumns.scaled(queries, row, shape.scale(), query);
      bounds.centres().products(query, 0, visible, scores);
      for (int j = 0; j < visible; j++) {
        scores[j] += logSizes[j];
      }
      float all = logSum(scores, 0, visible);
      for (int j = 0; j < visible; j++) {
        shares[j] += Math.exp(scores[j] - all);
      }
    }
    float[] logs = new float[visible];
    for (int j = 0; j < visible; j++) {
      logs[j] = (float) Math.log(shares[j] / (to - from));
    }
    return logs;
  }

  /**
   * The share of attention that a block of queries really gives to each block of keys, mean over
   * its queries: what features foresee. Every score is computed for it.
   */
  double[] masses(int queryBlock) {
    int visible = visible(queryBlock);
    float[] query = new float[shape.dimension()];
    float[] scores = new float[end(visible - 1)];
    double[] masses = new double[visible];
    int from = queryBlock * block;
    int to = end(queryBlock);
    for (int row = from; row < to; row++) {
      KeyColumns.scaled(queries, row, shape.scale(), query);
      int end = shape.causal() ? row + 1 : shape.length();
      keys.products(query, 0, end, scores);
      float all = logSum(scores, 0, end);
      for (int key = 0; key < end; key++) {
        masses[key / block] += Math.exp(scores[key] - all) / (to - from);
      }
    }
    return masses;
  }

  private static float logSum(float[] of, int from, int to) {
    float most = Float.NEGATIVE_INFINITY;
    for (int i = from; i < to; i++) {
      most = Math.max(most, of[i]);
    }
    double sum = 0;
    for (int i = from; i < to; i++) {
      sum += Math.exp(of[i] - most);
    }
    return most + (float) Math.log(sum);
  }
}
