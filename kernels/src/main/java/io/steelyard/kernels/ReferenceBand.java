package io.steelyard.kernels;

import java.util.Arrays;

/**
 * The definition in scalar code, with sums in double. Panels are float32 rows: keys, then values.
 */
final class ReferenceBand implements AttentionBand {
  private final int dimension;
  private final double[][] sums = new double[ROWS][];
  private final double[] largest = new double[ROWS];
  private final double[] totals = new double[ROWS];
  private final float[][] queries = new float[ROWS][];
  private int rows;
  private float scale;
  private long scores;

  ReferenceBand(int dimension) {
    this.dimension = dimension;
    for (int row = 0; row < ROWS; row++) {
      sums[row] = new double[dimension];
      queries[row] = new float[dimension];
    }
  }

  @Override
  public long panelBytes(int keys) {
    return 2L * keys * rowBytes();
  }

  private long rowBytes() {
    return 4L * dimension;
  }

  @Override
  public void pack(StridedRows keys, StridedRows values, int from, int to, long panels, int count) {
    for (int key = from; key < to; key++) {
      widen(keys, key, panels + key * rowBytes());
      widen(values, key, panels + ((long) count + key) * rowBytes());
    }
  }

  private void widen(StridedRows rows, int row, long to) {
    for (int d = 0; d < dimension; d++) {
      RawMemory.putFloat(to + 4L * d, rows.get(row, d));
    }
  }

  @Override
  public void begin(StridedRows queries, int rows, float scale) {
    this.rows = rows;
    this.scale = scale;
    for (int row = 0; row < rows; row++) {
      for (int d = 0; d < dimension; d++) {
        this.queries[row][d] = queries.get(row, d);
      }
      Arrays.fill(sums[row], 0);
      largest[row] = NO_KEYS;
      totals[row] = 0;
    }
  }

  @Override
  public void meet(
      long panels, int count, int from, int to, int[] first, int[] end, ScoreFunction function) {
    for (int row = 0; row < rows; row++) {
      int last = Math.min(to, end[row]);
      for (int key = Math.max(from, first[row]); key < last; key++) {
        see(row, key, panels, panels + count * rowBytes(), function);
      }
    }
  }

  private void see(int row, int key, long keys, long values, ScoreFunction function) {
    double product = 0;
    for (int d = 0; d < dimension; d++) {
      product += (double) queries[row][d] * RawMemory.getFloat(keys + key * rowBytes() + 4L * d);
    }
    scores++;
    double score = product * scale;
    if (function != null) {
      score = function.apply((float) score, row, key);
      if (score == ScoreFunction.HIDDEN) {
        return;
      }
    }
    if (score > largest[row]) {
      double correction = Math.exp(largest[row] - score);
      totals[row] *= correction;
      for (int d = 0; d < dimension; d++) {
        sums[row][d] *= correction;
      }
      largest[row] = score;
    }
    double weight = Math.exp(score - largest[row]);
    totals[row] += weight;
    for (int d = 0; d < dimension; d++) {
      sums[row][d] += weight * RawMemory.getFloat(values + key * rowBytes() + 4L * d);
    }
  }

  @Override
  public void finish(StridedRows out, long logSums, long stride) {
    for (int row = 0; row < rows; row++) {
      boolean sees = totals[row] > 0;
      for (int d = 0; d < dimension; d++) {
        float value = sees ? (float) (sums[row][d] / totals[row]) : 0;
        out.put(row, d, value);
      }
      if (logSums != 0) {
        double logSum = sees ? largest[row] + Math.log(totals[row]) : NO_KEYS;
        RawMemory.putFloat(logSums + stride * row, (float) logSum);
      }
    }
  }

  @Override
  public long scores() {
    return scores;
  }

  @Override
  public long scratchBytes() {
    return 0;
  }

  @Override
  public void close() {
    // Nothing is held outside the heap.
  }
}
