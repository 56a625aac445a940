package io.steelyard.kernels;

import io.steelyard.kernels.amx.TileSoftmax;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode;
import io.steelyard.kernels.machine.MachineCode.Single;
import io.steelyard.kernels.machine.TileCode;
import io.steelyard.kernels.machine.TileCode.TilePart;
import java.util.Arrays;

/**
 * A band in AMX tiles, for inputs of 16 bits. Products are split, so that nothing is rounded to
 * fewer than 16 bits. Its panels are blocks of activations, see {@link TileCode}: keys as [16
 * keys][chunk of values], values as [16 values][chunk of keys].
 */
final class TileBand extends BlockedBand {
  private static final int BLOCKS = ROWS / TileCode.ROWS;

  /** Values of a panel that becomes two blocks. */
  private static final int LANES = 2 * TileCode.TOKENS;

  /** Bytes of a product's last argument. */
  private static final int LONGS = 64;

  private static final double LOG2_E = 1 / Math.log(2);

  /** Hides a key: less than {@link TileSoftmax#LOWEST}, and finite when that is taken away. */
  private static final float HIDDEN = -1e38f;

  private static final long BLOCK_BYTES = TileCode.activationBytes(true);

  private static final float[] LOWEST = new float[TileCode.ROWS];

  static {
    Arrays.fill(LOWEST, TileSoftmax.LOWEST);
  }

  private final MachineCode code;
  private final TileCode tiles;
  private final int[] visible = new int[TileCode.ROWS];
  private final int dimension;
  private final int chunks;
  private final int valueBlocks;
  private final long queryBytes;
  private final long sumBytes;
  private final long queries;
  private final long sums;
  private final long states;
  private final long scoreBlocks;
  private final long weights;
  private final long staged;
  private final long begin;
  private final long add;

  /**
   * Makes one.
   *
   * @param keysAtOnce a multiple of a chunk, or 0
   */
  TileBand(MachineCode code, int dimension, int keysAtOnce) {
    super(new CallList(code.single(Single.CALLS)), TileCode.ROWS, TileCode.CHUNK, keysAtOnce);
    this.code = code;
    this.dimension = dimension;
    tiles = code.tiles().orElseThrow();
    chunks = Math.ceilDiv(dimension, TileCode.CHUNK);
    valueBlocks = 2 * Math.ceilDiv(dimension, LANES);
    queryBytes = (long) chunks * TileCode.weightBytes(true);
    sumBytes = (long) valueBlocks * TileCode.SUM_BYTES;
    long scoreBytes = (long) this.keysAtOnce / TileCode.TOKENS * TileCode.SUM_BYTES;
    long weightBytes = (long) this.keysAtOnce / TileCode.CHUNK * TileCode.weightBytes(true);
    long stagedBytes = (long) Float.BYTES * Math.max(PIECE * LANES, TileCode.TOKENS * rowValues());
    queries =
        scratch.atLeast(
            BLOCKS * (queryBytes + sumBytes + TileSoftmax.STATE)
                + scoreBytes
                + weightBytes
                + stagedBytes
                + 2 * LONGS);
    sums = queries + BLOCKS * queryBytes;
    states = sums + BLOCKS * sumBytes;
    scoreBlocks = states + (long) BLOCKS * TileSoftmax.STATE;
    weights = scoreBlocks + scoreBytes;
    staged = weights + weightBytes;
    begin = staged + stagedBytes;
    add = begin + LONGS;
    RawMemory.clear(begin, 2 * LONGS);
    RawMemory.putLong(add, 1);
  }

  /** Assembles what all bands call: the code may be made by one thread alone. */
  static void prepare(MachineCode code) {
    TileCode tiles = code.tiles().orElseThrow();
    tiles.activations(true);
    tiles.panels(DataType.F32);
    tiles.product(true);
    tiles.part(TilePart.QUERY);
    tiles.part(TilePart.SOFTMAX);
    tiles.part(TilePart.ATTENDED);
  }

  private int rowValues() {
    return chunks * TileCode.CHUNK;
  }

  /** Bytes of 16 keys. */
  private long keyBlock() {
    return chunks * BLOCK_BYTES;
  }

  private static int keyChunks(int keys) {
    return Math.ceilDiv(keys, TileCode.CHUNK);
  }

  private long keyBytes(int count) {
    return 2L * keyChunks(count) * keyBlock();
  }

  @Override
  public long panelBytes(int keys) {
    return keyBytes(keys) + (long) valueBlocks * keyChunks(keys) * BLOCK_BYTES;
  }

  @Override
  public void pack(StridedRows keys, StridedRows values, int from, int to, long panels, int count) {
    for (int key = from; key < to; key += TileCode.TOKENS) {
      int tokens = Math.min(TileCode.TOKENS, to - key);
      for (int i = 0; i < tokens; i++) {
        widen(keys, key + i, 0, dimension, staged + (long) Float.BYTES * i * rowValues());
      }
      calls.add(
          tiles.activations(true),
          staged,
          (long) Float.BYTES * rowValues(),
          panels + key / TileCode.TOKENS * keyBlock(),
          tokens,
          dimension / TileCode.CHUNK,
          dimension % TileCode.CHUNK);
      calls.run();
    }
    long blockBytes = keyChunks(count) * BLOCK_BYTES;
    long first = panels + keyBytes(count) + from / TileCode.CHUNK * BLOCK_BYTES;
    for (int lane = 0; lane < dimension; lane += LANES) {
      packValues(values, from, to, lane, first + lane / TileCode.TOKENS * blockBytes, blockBytes);
    }
  }

  /** Values of up to 32 dimensions, as two blocks. */
  private void packValues(
      StridedRows values, int from, int to, int lane, long block, long blockBytes) {
    int lanes = Math.min(LANES, dimension - lane);
    for (int piece = from; piece < to; piece += PIECE) {
      int keys = Math.min(PIECE, to - piece);
      if (lanes < LANES) {
        RawMemory.clear(staged, (long) Float.BYTES * keys * LANES);
      }
      for (int i = 0; i < keys; i++) {
        widen(values, piece + i, lane, lanes, staged + (long) Float.BYTES * i * LANES);
      }
      calls.add(
          tiles.panels(DataType.F32),
          staged,
          block + (piece - from) / TileCode.CHUNK * BLOCK_BYTES,
          blockBytes,
          keys,
          0,
          0);
      calls.run();
    }
  }

  private void widen(StridedRows from, long row, int first, int count, long to) {
    calls.add(
        code.single(MachineCode.widening(from.type())),
        from.row(row) + from.type().bytes(first),
        to,
        count,
        0,
        0,
        0);
  }

  @Override
  public void begin(StridedRows queries, int rows, float scale) {
    forget(rows);
    float toBase2 = (float) (scale * LOG2_E);
    for (int row = 0; row < rows; row++) {
      widen(queries, row, 0, dimension, staged);
      calls.add(
          tiles.part(TilePart.QUERY),
          staged,
          this.queries + row / TileCode.ROWS * queryBytes + inBlock(row),
          dimension / TileCode.CHUNK,
          dimension % TileCode.CHUNK,
          Float.floatToRawIntBits(toBase2) & 0xFFFF_FFFFL,
          0);
    }
    calls.run();
    for (int block = 0; block < blocks(); block++) {
      RawMemory.putLong(state(block), valueBlocks);
      RawMemory.putFloats(state(block) + TileSoftmax.LARGEST, LOWEST, TileCode.ROWS);
      RawMemory.clear(
          state(block) + TileSoftmax.WEIGHT_SUMS, (long) TileSoftmax.ROW * TileCode.ROWS);
    }
  }

  private long state(int block) {
    return states + (long) block * TileSoftmax.STATE;
  }

  /** Where a row is in tiles of 64 bytes a row. */
  private static long inBlock(int row) {
    return 64L * (row % TileCode.ROWS);
  }

  @Override
  long step(
      long panels,
      int count,
      int block,
      int key,
      int stop,
      int from,
      int[] first,
      int[] end,
      ScoreFunction function) {
    int keys = stop - key;
    int pairs = keyChunks(keys);
    Function product = tiles.product(true);
    calls.add(
        product,
        queries + block * queryBytes,
        panels + key / TileCode.TOKENS * keyBlock(),
        scoreBlocks,
        2L * pairs,
        chunks,
        begin);
    int firstRow = block * TileCode.ROWS;
    for (int row = firstRow; row < endOf(block); row++) {
      visible[row - firstRow] = Math.min(keys, end[row] - key);
      int hidden = Math.min(keys, Math.max(first[row], from) - key);
      if (hidden > 0 || function != null) {
        calls.run();
        change(row, key, hidden, visible[row - firstRow], function);
      }
    }
    RawMemory.putInts(state(block) + TileSoftmax.VISIBLE, visible, endOf(block) - firstRow);
    long rowSums = sums + block * sumBytes;
    calls.add(
        tiles.part(TilePart.SOFTMAX),
        scoreBlocks,
        weights,
        state(block),
        endOf(block) - firstRow,
        pairs,
        rowSums);
    long values = panels + keyBytes(count) + key / TileCode.CHUNK * BLOCK_BYTES;
    long blockBytes = keyChunks(count) * BLOCK_BYTES;
    for (int i = 0; i < valueBlocks; i++) {
      calls.add(
          product,
          weights,
          values + i * blockBytes,
          rowSums + (long) i * TileCode.SUM_BYTES,
          1,
          pairs,
          hasMet(block) ? add : begin);
    }
    calls.run();
    return (long) TileCode.ROWS * pairs * TileCode.CHUNK;
  }

  /** Hides what comes before a row's first key, and gives the others to the function. */
  private void change(int row, int key, int hidden, int visible, ScoreFunction function) {
    for (int i = 0; i < hidden; i++) {
      RawMemory.putFloat(score(row, i), HIDDEN);
    }
    if (function == null) {
      return;
    }
    for (int i = Math.max(0, hidden); i < visible; i++) {
      float score = (float) (RawMemory.getFloat(score(row, i)) / LOG2_E);
      float changed = function.apply(score, row, key + i);
      RawMemory.putFloat(
          score(row, i), changed == ScoreFunction.HIDDEN ? HIDDEN : (float) (changed * LOG2_E));
    }
  }

  private long score(int row, int key) {
    return scoreBlocks
        + (long) key / TileCode.TOKENS * TileCode.SUM_BYTES
        + inBlock(row)
        + (long) Float.BYTES * (key % TileCode.TOKENS);
  }

  @Override
  public void finish(StridedRows out, long logSums, long stride) {
    for (int row = 0; row < rows(); row++) {
      long state = state(row / TileCode.ROWS);
      float largest =
          RawMemory.getFloat(
              state + TileSoftmax.LARGEST + (long) Float.BYTES * (row % TileCode.ROWS));
      boolean sees = largest != TileSoftmax.LOWEST;
      long total = state + TileSoftmax.WEIGHT_SUMS + inBlock(row);
      write(row, sees, total, out);
      if (logSums != 0) {
        double sum = 0;
        for (int i = 0; i < TileCode.TOKENS; i++) {
          sum += RawMemory.getFloat(total + (long) Float.BYTES * i);
        }
        double logSum = sees ? largest / LOG2_E + Math.log(sum) : NO_KEYS;
        RawMemory.putFloat(logSums + stride * row, (float) logSum);
      }
    }
  }

  private void write(int row, boolean sees, long total, StridedRows out) {
    if (!sees) {
      RawMemory.clear(out.row(row), out.type().bytes(dimension));
      return;
    }
    boolean direct = out.type() == DataType.F32;
    calls.add(
        tiles.part(TilePart.ATTENDED),
        sums + row / TileCode.ROWS * sumBytes + inBlock(row),
        direct ? out.row(row) : staged,
        dimension / TileCode.TOKENS,
        dimension % TileCode.TOKENS,
        total,
        0);
    calls.run();
    if (!direct) {
      out.round(staged, row, dimension);
    }
  }
}
