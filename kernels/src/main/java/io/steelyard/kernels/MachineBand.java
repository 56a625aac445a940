package io.steelyard.kernels;

import io.steelyard.kernels.avx2.Softmax;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode;
import io.steelyard.kernels.machine.MachineCode.Single;
import io.steelyard.kernels.machine.Product;

/**
 * A band in machine code. Its rows are tiles of a {@link Product} of float32, whose panels are keys
 * as [group of 32][value][32 keys] and values as [run of 32 values][key][32 values], as in {@link
 * MachineCache}.
 */
final class MachineBand extends BlockedBand {
  private static final int GROUP = Product.ROWS;
  private static final int CHUNK = Product.F32.chunkValues();
  private static final int TILE = Product.F32.tokens();
  private static final int TILES = (ROWS + TILE - 1) / TILE;

  /** Rows that are transposed together. */
  private static final int HALF = 16;

  private static final long STATE =
      (Softmax.HEADER + (long) TILE * Softmax.ROW + Rows.ALIGNMENT - 1)
          / Rows.ALIGNMENT
          * Rows.ALIGNMENT;

  private final MachineCode code;
  private final int dimension;
  private final int keyValues;
  private final int runs;
  private final long queryBytes;
  private final long sumBytes;
  private final long queries;
  private final long sums;
  private final long states;
  private final long scoreRows;
  private final long weights;
  private final long staged;

  private float scale;

  /**
   * Makes one.
   *
   * @param keysAtOnce a multiple of a group, or 0
   */
  MachineBand(MachineCode code, int dimension, int keysAtOnce) {
    super(new CallList(code.single(Single.CALLS)), TILE, GROUP, keysAtOnce);
    this.code = code;
    this.dimension = dimension;
    keyValues = MachineCache.roundUp(dimension, CHUNK);
    runs = Math.ceilDiv(dimension, GROUP);
    queryBytes = (long) keyValues / CHUNK * Product.F32.tileChunk();
    sumBytes = 4L * TILE * runs * GROUP;
    long scoreBytes = 4L * TILE * this.keysAtOnce;
    long weightBytes = (long) this.keysAtOnce / CHUNK * Product.F32.tileChunk();
    long stagedBytes = 4L * HALF * runs * GROUP;
    queries =
        scratch.atLeast(
            TILES * (queryBytes + sumBytes + STATE) + scoreBytes + weightBytes + stagedBytes);
    sums = queries + TILES * queryBytes;
    states = sums + TILES * sumBytes;
    scoreRows = states + TILES * STATE;
    weights = scoreRows + scoreBytes;
    staged = weights + weightBytes;
  }

  /** Assembles what all bands call: the code may be made by one thread alone. */
  static void prepare(MachineCode code) {
    code.tile(Product.F32);
    for (int tokens = 1; tokens <= TILE; tokens++) {
      code.product(Product.F32, tokens);
    }
    code.single(Single.CALLS);
    code.single(Single.TRANSPOSE);
    code.single(Single.SOFTMAX);
    code.single(Single.SCALE);
    code.single(Single.FROM_F16);
    code.single(Single.FROM_BF16);
  }

  private long groupBytes() {
    return 4L * GROUP * keyValues;
  }

  private long keyBytes(int count) {
    return Math.ceilDiv(count, GROUP) * groupBytes();
  }

  /** Bytes of a run's values. */
  private long runBytes(int count) {
    return 4L * GROUP * MachineCache.roundUp(count, CHUNK);
  }

  @Override
  public long panelBytes(int keys) {
    return keyBytes(keys) + runs * runBytes(keys);
  }

  @Override
  public void pack(StridedRows keys, StridedRows values, int from, int to, long panels, int count) {
    for (int key = from; key < to; key += HALF) {
      long group = panels + key / GROUP * groupBytes();
      packKeys(keys, key, Math.min(HALF, to - key), group + 4L * (key % GROUP));
    }
    if (to == count && to % GROUP > 0 && to % GROUP <= HALF) {
      // The last group's second half, of which nothing is seen, is read all the same.
      packKeys(keys, to, 0, panels + to / GROUP * groupBytes() + 4L * HALF);
    }
    calls.run();
    long at = panels + keyBytes(count);
    for (int run = 0; run < runs; run++) {
      packValues(values, from, to, run, at + run * runBytes(count));
      if (to == count) {
        long after = at + run * runBytes(count) + 4L * GROUP * count;
        RawMemory.clear(after, at + (run + 1) * runBytes(count) - after);
      }
    }
    calls.run();
  }

  /** Transposes up to 16 keys into half of a group. */
  private void packKeys(StridedRows keys, int key, int count, long to) {
    boolean direct = keys.type() == DataType.F32 && count == HALF && dimension == keyValues;
    long stride = direct ? keys.stride() : 4L * keyValues;
    if (!direct) {
      if (count < HALF || dimension < keyValues) {
        calls.run();
        RawMemory.clear(staged, HALF * stride);
      }
      for (int i = 0; i < count; i++) {
        widen(keys, key + i, 0, dimension, staged + i * stride);
      }
    }
    calls.add(
        code.single(Single.TRANSPOSE),
        to,
        direct ? keys.row(key) : staged,
        stride,
        keyValues / CHUNK,
        4L * GROUP * CHUNK,
        4L * CHUNK);
  }

  private void packValues(StridedRows values, int from, int to, int run, long panel) {
    int count = Math.min(GROUP, dimension - run * GROUP);
    for (int key = from; key < to; key++) {
      long at = panel + 4L * GROUP * key;
      if (count < GROUP) {
        RawMemory.clear(at + 4L * count, 4L * (GROUP - count));
      }
      widen(values, key, run * GROUP, count, at);
    }
  }

  /** Values of a row as float32; those that need a conversion are yet to be called. */
  private void widen(StridedRows rows, long row, int first, int count, long to) {
    DataType type = rows.type();
    long from = rows.row(row) + type.bytes(first);
    if (type == DataType.F32) {
      RawMemory.copy(from, to, 4L * count);
    } else {
      calls.add(code.single(MachineCode.widening(type)), from, to, count, 0, 0, 0);
    }
  }

  @Override
  public void begin(StridedRows queries, int rows, float scale) {
    forget(rows);
    this.scale = scale;
    for (int row = 0; row < rows; row++) {
      long from = queries.row(row);
      if (queries.type() != DataType.F32) {
        widen(queries, row, 0, dimension, staged);
        from = staged;
      }
      calls.add(
          code.tile(Product.F32),
          from,
          this.queries + row / TILE * queryBytes + 32L * (row % TILE),
          dimension / CHUNK,
          dimension % CHUNK,
          0,
          0);
      RawMemory.putFloat(state(row) + Softmax.MAXIMUM, NO_KEYS);
      RawMemory.putFloat(state(row) + Softmax.SUM, 0);
    }
    calls.run();
    for (int tile = 0; tile < blocks(); tile++) {
      RawMemory.putFloat(states + tile * STATE, scale);
    }
  }

  private long state(int row) {
    return states + row / TILE * STATE + Softmax.HEADER + (long) (row % TILE) * Softmax.ROW;
  }

  private long sum(int row) {
    return sums + row / TILE * sumBytes + (long) (row % TILE) * 4 * runs * GROUP;
  }

  @Override
  long step(
      long panels,
      int count,
      int tile,
      int key,
      int stop,
      int from,
      int[] first,
      int[] end,
      ScoreFunction function) {
    int tileRows = endOf(tile) - tile * TILE;
    int keys = stop - key;
    Function product = code.product(Product.F32, tileRows);
    int groups = Math.ceilDiv(keys, GROUP);
    for (int group = 0; group < groups; group++) {
      calls.add(
          product,
          panels + (key / GROUP + group) * groupBytes(),
          queries + tile * queryBytes,
          scoreRows + 4L * group * GROUP,
          4L * keysAtOnce,
          keyValues / CHUNK,
          0xFFFF_FFFFL);
    }
    for (int row = tile * TILE; row < endOf(tile); row++) {
      RawMemory.putInt(state(row) + Softmax.VISIBLE, Math.min(keys, end[row] - key));
      int hidden = Math.min(keys, Math.max(first[row], from) - key);
      if (hidden > 0 || function != null) {
        calls.run();
        change(
            row, scoreRows + 4L * keysAtOnce * (row % TILE), key, hidden, end[row], keys, function);
      }
    }
    calls.add(
        code.single(Single.SOFTMAX),
        scoreRows,
        4L * keysAtOnce,
        weights,
        states + tile * STATE,
        2L * groups,
        tileRows);
    calls.run();
    if (hasMet(tile)) {
      correct(tile);
    }
    int chunks = Math.ceilDiv(keys, CHUNK);
    for (int run = 0; run < runs; run++) {
      calls.add(
          product,
          panels + keyBytes(count) + run * runBytes(count) + 4L * GROUP * key,
          weights,
          sums + tile * sumBytes + 4L * run * GROUP,
          4L * runs * GROUP,
          chunks,
          0xFFFF_FFFFL | (hasMet(tile) ? 1L << 32 : 0));
    }
    calls.run();
    return (long) tileRows * groups * GROUP;
  }

  /** Hides what comes before a row's first key, and gives the others to the function. */
  private void change(
      int row, long at, int key, int hidden, int end, int keys, ScoreFunction function) {
    for (int i = 0; i < hidden; i++) {
      RawMemory.putFloat(at + 4L * i, ScoreFunction.HIDDEN);
    }
    if (function == null) {
      return;
    }
    // The softmax scales what it is given.
    float inverse = 1 / scale;
    int last = Math.min(keys, end - key);
    for (int i = Math.max(0, hidden); i < last; i++) {
      float score = function.apply(RawMemory.getFloat(at + 4L * i) * scale, row, key + i);
      RawMemory.putFloat(at + 4L * i, score == ScoreFunction.HIDDEN ? score : score * inverse);
    }
  }

  /** Scales earlier sums to the new maxima. */
  private void correct(int tile) {
    for (int row = tile * TILE; row < endOf(tile); row++) {
      float correction = RawMemory.getFloat(state(row) + Softmax.CORRECTION);
      if (correction != 1) {
        scale(sum(row), sum(row), runs * GROUP, correction);
      }
    }
  }

  private void scale(long from, long to, int values, float factor) {
    code.single(Single.SCALE)
        .call(from, to, values, Float.floatToRawIntBits(factor) & 0xFFFF_FFFFL);
  }

  @Override
  public void finish(StridedRows out, long logSums, long stride) {
    for (int row = 0; row < rows(); row++) {
      float largest = RawMemory.getFloat(state(row) + Softmax.MAXIMUM);
      float total = RawMemory.getFloat(state(row) + Softmax.SUM);
      boolean sees = largest != NO_KEYS;
      write(row, sees ? 1 / total : 0, out);
      if (logSums != 0) {
        double logSum = sees ? (double) largest * scale + Math.log(total) : NO_KEYS;
        RawMemory.putFloat(logSums + stride * row, (float) logSum);
      }
    }
  }

  private void write(int row, float factor, StridedRows out) {
    if (factor == 0) {
      RawMemory.clear(out.row(row), out.type().bytes(dimension));
    } else if (out.type() == DataType.F32) {
      scale(sum(row), out.row(row), dimension, factor);
    } else {
      scale(sum(row), staged, dimension, factor);
      out.round(staged, row, dimension);
    }
  }
}
