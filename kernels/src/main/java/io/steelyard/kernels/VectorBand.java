package io.steelyard.kernels;

import static io.steelyard.kernels.Lanes.BYTES;
import static io.steelyard.kernels.VectorTile.ROW_BYTES;
import static io.steelyard.kernels.VectorTile.WIDTH;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;

/**
 * A band in the Vector API. Lanes are queries, as in {@link VectorPromptAttention}: panels are keys
 * as [piece][value][keys of the piece] and values as rows, scores are [key][query], sums
 * [value][query].
 */
final class VectorBand implements AttentionBand {
  private static final int TILES = ROWS / WIDTH;

  private final Scratch scratch = new Scratch();
  private final int dimension;
  private final int keysAtOnce;
  private final int sumRows;
  private final long queries;
  private final long sums;
  private final long largest;
  private final long totals;
  private final long firstKeys;
  private final long lastKeys;
  private final long scoreRows;
  private final long corrections;
  private int rows;
  private long scores;

  VectorBand(int dimension, int keysAtOnce) {
    this.dimension = dimension;
    this.keysAtOnce = keysAtOnce == 0 ? PIECE : keysAtOnce;
    sumRows = VectorTile.roundUpRows(dimension);
    long queryBytes = (long) TILES * dimension * ROW_BYTES;
    long sumBytes = (long) TILES * sumRows * ROW_BYTES;
    long stateBytes = (long) TILES * ROW_BYTES;
    long scoreBytes = (long) (this.keysAtOnce + VectorTile.ROWS) * ROW_BYTES;
    queries = scratch.atLeast(queryBytes + sumBytes + 4 * stateBytes + scoreBytes + 4L * ROWS);
    sums = queries + queryBytes;
    largest = sums + sumBytes;
    totals = largest + stateBytes;
    firstKeys = totals + stateBytes;
    lastKeys = firstKeys + stateBytes;
    scoreRows = lastKeys + stateBytes;
    corrections = scoreRows + scoreBytes;
  }

  /** A tile's last rows may reach past a piece's last key, and past the last value. */
  @Override
  public long panelBytes(int keys) {
    return keyBytes(keys) + 4L * ((long) keys * dimension + 2L * PIECE);
  }

  private long keyBytes(int keys) {
    return 4L * dimension * MachineCache.roundUp(keys, PIECE);
  }

  @Override
  public void pack(StridedRows keys, StridedRows values, int from, int to, long panels, int count) {
    long rowBytes = 4L * dimension;
    for (int key = from; key < to; key++) {
      long column = panels + rowBytes * (key - key % PIECE) + 4L * (key % PIECE);
      for (int d = 0; d < dimension; d++) {
        Lanes.put(column + 4L * d * PIECE, keys.get(key, d));
      }
      long to32 = panels + keyBytes(count) + rowBytes * key;
      for (int d = 0; d < dimension; d++) {
        Lanes.put(to32 + 4L * d, values.get(key, d));
      }
    }
  }

  @Override
  public void begin(StridedRows queries, int rows, float scale) {
    this.rows = rows;
    for (int row = 0; row < tiles() * WIDTH; row++) {
      // Lanes without a row of their own repeat the last.
      int from = Math.min(row, rows - 1);
      long to = this.queries + (long) (row / WIDTH) * dimension * ROW_BYTES + lane(row);
      for (int d = 0; d < dimension; d++) {
        Lanes.put(to + (long) d * ROW_BYTES, queries.get(from, d) * scale);
      }
      Lanes.put(largest + 4L * row, NO_KEYS);
      Lanes.put(totals + 4L * row, 0);
    }
    RawMemory.clear(sums, (long) tiles() * sumRows * ROW_BYTES);
  }

  private int tiles() {
    return Math.ceilDiv(rows, WIDTH);
  }

  private static long lane(int row) {
    return 4L * (row % WIDTH);
  }

  @Override
  public void meet(
      long panels, int count, int from, int to, int[] first, int[] end, ScoreFunction function) {
    for (int row = 0; row < tiles() * WIDTH; row++) {
      // Lanes without a row of their own repeat the last.
      int own = Math.min(row, rows - 1);
      RawMemory.putInt(firstKeys + 4L * row, Math.max(first[own], from));
      RawMemory.putInt(lastKeys + 4L * row, Math.min(end[own], to));
    }
    for (int key = from / PIECE * PIECE; key < to; key += keysAtOnce) {
      for (int tile = 0; tile < tiles(); tile++) {
        int begin = Integer.MAX_VALUE;
        int stop = 0;
        for (int row = tile * WIDTH; row < Math.min(rows, (tile + 1) * WIDTH); row++) {
          begin = Math.min(begin, Math.max(first[row], from));
          stop = Math.max(stop, Math.min(end[row], to));
        }
        begin = Math.max(begin, key);
        stop = Math.min(stop, key + keysAtOnce);
        if (begin < stop) {
          step(panels, count, tile, begin, stop, function);
        }
      }
    }
  }

  private void step(long panels, int count, int tile, int key, int stop, ScoreFunction function) {
    int keys = stop - key;
    RawMemory.clear(scoreRows, (long) VectorTile.roundUpRows(keys) * ROW_BYTES);
    long panel = queries + (long) tile * dimension * ROW_BYTES;
    for (int at = key; at < stop; ) {
      int piece = at / PIECE * PIECE;
      int last = Math.min(stop, piece + PIECE);
      for (; at < last; at += VectorTile.ROWS) {
        VectorTile.multiply(
            panels + 4L * dimension * piece + 4L * (at - piece),
            4,
            4L * PIECE,
            dimension,
            panel,
            scoreRows + (long) (at - key) * ROW_BYTES,
            ROW_BYTES);
      }
      if (at > last && last < stop) {
        // What reached past the piece is begun again as the next one's.
        RawMemory.clear(
            scoreRows + (long) (last - key) * ROW_BYTES, (at - last) * (long) ROW_BYTES);
      }
      at = last;
    }
    scores += (long) (Math.min(rows, (tile + 1) * WIDTH) - tile * WIDTH) * keys;
    if (function != null) {
      change(tile, key, keys, function);
    }
    long tileSums = sums + (long) tile * sumRows * ROW_BYTES;
    for (int half = 0; half < ROW_BYTES; half += BYTES) {
      long state = (long) tile * ROW_BYTES + half;
      weigh(scoreRows + half, state, key, keys);
      correct(tileSums + half);
    }
    for (int d = 0; d < dimension; d += VectorTile.ROWS) {
      VectorTile.multiply(
          panels + keyBytes(count) + 4L * ((long) key * dimension + d),
          4,
          4L * dimension,
          keys,
          scoreRows,
          tileSums + (long) d * ROW_BYTES,
          ROW_BYTES);
    }
  }

  private void change(int tile, int key, int keys, ScoreFunction function) {
    for (int row = tile * WIDTH; row < Math.min(rows, (tile + 1) * WIDTH); row++) {
      int last = Math.min(keys, Lanes.bits32(lastKeys + 4L * row) - key);
      for (int i = Math.max(0, Lanes.bits32(firstKeys + 4L * row) - key); i < last; i++) {
        long at = scoreRows + (long) i * ROW_BYTES + lane(row);
        Lanes.put(at, function.apply(Lanes.scalar(at), row, key + i));
      }
    }
  }

  /** Scores become weights, and those of hidden keys zero. */
  private void weigh(long at, long state, int key, int keys) {
    FloatVector first = Lanes.toFloat(Lanes.ints(firstKeys + state).sub(key));
    FloatVector last = Lanes.toFloat(Lanes.ints(lastKeys + state).sub(key));
    FloatVector before = Lanes.load(largest + state);
    FloatVector max = before;
    for (int i = 0; i < keys; i++) {
      FloatVector score =
          Lanes.load(at + (long) i * ROW_BYTES).blend(NO_KEYS, hidden(first, last, i));
      Lanes.store(at + (long) i * ROW_BYTES, score);
      max = max.max(score);
    }
    FloatVector correction = Lanes.exp(before.sub(max));
    FloatVector total = Lanes.load(totals + state).mul(correction);
    for (int i = 0; i < keys; i++) {
      FloatVector score = Lanes.load(at + (long) i * ROW_BYTES);
      FloatVector weight =
          Lanes.exp(score.sub(max)).blend(0, score.compare(VectorOperators.EQ, NO_KEYS));
      total = total.add(weight);
      Lanes.store(at + (long) i * ROW_BYTES, weight);
    }
    Lanes.store(largest + state, max);
    Lanes.store(totals + state, total);
    Lanes.store(corrections, correction);
  }

  private static VectorMask<Float> hidden(FloatVector first, FloatVector last, int key) {
    return last.compare(VectorOperators.LE, (float) key)
        .or(first.compare(VectorOperators.GT, (float) key));
  }

  private void correct(long at) {
    FloatVector correction = Lanes.load(corrections);
    for (int d = 0; d < dimension; d++) {
      long sum = at + (long) d * ROW_BYTES;
      Lanes.store(sum, Lanes.load(sum).mul(correction));
    }
  }

  @Override
  public void finish(StridedRows out, long logSums, long stride) {
    for (int row = 0; row < rows; row++) {
      float total = Lanes.scalar(totals + 4L * row);
      float factor = total > 0 ? 1 / total : 0;
      long from = sums + (long) (row / WIDTH) * sumRows * ROW_BYTES + lane(row);
      for (int d = 0; d < dimension; d++) {
        out.put(row, d, Lanes.scalar(from + (long) d * ROW_BYTES) * factor);
      }
      if (logSums != 0) {
        double logSum = total > 0 ? Lanes.scalar(largest + 4L * row) + Math.log(total) : NO_KEYS;
        Lanes.put(logSums + stride * row, (float) logSum);
      }
    }
  }

  @Override
  public long scores() {
    return scores;
  }

  @Override
  public long scratchBytes() {
    return scratch.bytes();
  }

  @Override
  public void close() {
    scratch.close();
  }

  static {
    if (ROWS % WIDTH != 0 || PIECE % VectorTile.ROWS != 0) {
      throw new AssertionError("a band doesn't divide into tiles");
    }
  }
}
