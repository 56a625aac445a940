package io.steelyard.kernels;

import static io.steelyard.kernels.ThreadTeam.share;

import java.lang.foreign.MemorySegment;

/**
 * Matrix products of the vector tier.
 *
 * <p>One to three tokens: each thread streams its own rows through {@link VectorDot}. Few, but
 * more: it unpacks each row once, and {@link VectorFew} multiplies it. Many tokens: the activations
 * are turned once into panels whose lanes are tokens; each thread then takes its rows in strips,
 * decodes a strip to float32 once for all tokens, and multiplies it with every panel by {@link
 * VectorTile}. A strip and a panel together fit the second-level cache.
 */
final class VectorMatmul implements AutoCloseable {
  /** Up to so many tokens the decoding path is taken; their results are those of single tokens. */
  static final int FEW = MachineMatmul.FEW;

  /** Bytes of weights between one token and the next: they stay in the first-level cache. */
  private static final int BLOCK_BYTES = 10 << 10;

  /** Rows decoded at a time: eight register tiles. */
  private static final int STRIP_ROWS = 8 * VectorTile.ROWS;

  /** Columns decoded at a time, a multiple of every block size. */
  private static final int STRIP_COLUMNS = 1024;

  private final ThreadTeam team;
  private final int few;
  private final TeamScratch scratch;

  // The operands of the product in progress; fields, so that a call allocates nothing.
  private StackedMatrix weights;
  private Rows x;
  private Rows y;
  private int tokens;
  private int tiles;
  private long panels;
  private long sums;
  private long turnedSums;

  private final ThreadTeam.Task rows = this::rows;
  private final ThreadTeam.Task pack = this::pack;
  private final ThreadTeam.Task many = this::many;

  VectorMatmul(ThreadTeam team, int few) {
    this.team = team;
    this.few = few;
    scratch = new TeamScratch(team);
  }

  void multiply(StackedMatrix weights, Rows x, Rows y, int tokens) {
    if (tokens == 0) {
      return;
    }
    this.weights = weights;
    this.x = x;
    this.y = y;
    this.tokens = tokens;
    if (tokens <= few) {
      int blocks = weights.columns() / VectorDot.SUM_BLOCK;
      long sumBytes = 4L * tokens * blocks;
      long all = Lanes.BYTES + sumBytes + VectorFew.sumBytes(blocks, tokens);
      long lanes = scratch.shared().atLeast(all);
      sums = lanes + Lanes.BYTES;
      turnedSums = sums + sumBytes;
      for (int token = 0; token < tokens; token++) {
        VectorDot.sums(x.address(token), weights.columns(), sums + 4L * token * blocks, lanes);
      }
      if (tokens >= VectorFew.TOKENS) {
        VectorFew.turn(sums, blocks, tokens, turnedSums);
      }
      team.run(rows);
    } else {
      tiles = (tokens + VectorTile.WIDTH - 1) / VectorTile.WIDTH;
      panels = scratch.shared().atLeast((long) tiles * weights.columns() * VectorTile.ROW_BYTES);
      team.run(pack);
      team.run(many);
    }
  }

  private void rows(int member, int members) {
    int begin = share(weights.rows(), member, members);
    int end = share(weights.rows(), member + 1, members);
    long lanes = scratch.own(member).atLeast(Lanes.BYTES + VectorFew.bytes(weights.columns()));
    int first = 0;
    for (int p = 0; p < weights.parts().size(); p++) {
      Tensor part = weights.parts().get(p);
      int rows = (int) part.rows();
      int from = Math.max(begin, first);
      int to = Math.min(end, first + rows);
      if (from < to) {
        if (tokens >= VectorFew.TOKENS && VectorFew.takes(part.type())) {
          rowsTogether(part, from - first, to - from, from, lanes);
        } else if (VectorDot.takes(part.type())) {
          storedRows(part, from - first, to - from, from, lanes);
        } else {
          decodedRows(part, from - first, to - from, from, lanes);
        }
      }
      first += rows;
    }
  }

  /** Unpacks each row once, for all tokens. */
  private void rowsTogether(Tensor part, int row, int count, int target, long lanes) {
    for (int r = 0; r < count; r++) {
      long unpacked = VectorFew.unpack(part, row + r, weights.columns(), lanes + Lanes.BYTES);
      VectorFew.multiply(part.type(), unpacked, x, tokens, turnedSums, y, target + r, lanes);
    }
  }

  /** Decodes each row once, for all tokens. */
  private void decodedRows(Tensor part, int row, int count, int target, long lanes) {
    int columns = weights.columns();
    long decoded = lanes + Lanes.BYTES;
    for (int r = 0; r < count; r++) {
      VectorDecode.run(part, row + r, 0, columns, decoded);
      for (int token = 0; token < tokens; token++) {
        long out = y.address(token) + 4L * (target + r);
        VectorDot.rows(DataType.F32, decoded, 1, columns, x.address(token), 0, out, lanes);
      }
    }
  }

  /** Weights that several tokens need are taken a few rows at a time. */
  private void storedRows(Tensor part, int row, int count, int target, long lanes) {
    int step = tokens == 1 ? count : (int) Math.max(1, BLOCK_BYTES / part.rowBytes());
    for (int r = 0; r < count; r += step) {
      rows(part, row + r, Math.min(step, count - r), target + r, lanes);
    }
  }

  private void rows(Tensor part, int row, int count, int target, long lanes) {
    int columns = weights.columns();
    long w = part.data().address() + row * part.rowBytes();
    for (int token = 0; token < tokens; token++) {
      long tokenSums = sums + 4L * token * (columns / VectorDot.SUM_BLOCK);
      long out = y.address(token) + 4L * target;
      VectorDot.rows(part.type(), w, count, columns, x.address(token), tokenSums, out, lanes);
    }
  }

  /** Turns activations into panels: [tile][column][lane], lanes past the last token zero. */
  private void pack(int member, int members) {
    int columns = weights.columns();
    int end = share(tiles, member + 1, members);
    for (int tile = share(tiles, member, members); tile < end; tile++) {
      long panel = panels + (long) tile * columns * VectorTile.ROW_BYTES;
      for (int lane = 0; lane < VectorTile.WIDTH; lane++) {
        int token = tile * VectorTile.WIDTH + lane;
        spread(token < tokens ? x.address(token) : 0, columns, panel + 4L * lane);
      }
    }
  }

  /** Copies a row to one lane of a panel; address 0 stands for zeros. */
  private static void spread(long row, int columns, long lane) {
    for (int c = 0; c < columns; c++) {
      float value = row == 0 ? 0 : Lanes.scalar(row + 4L * c);
      Lanes.put(lane + (long) c * VectorTile.ROW_BYTES, value);
    }
  }

  private void many(int member, int members) {
    int rows = weights.rows();
    int rowTiles = (rows + VectorTile.ROWS - 1) / VectorTile.ROWS;
    int begin = share(rowTiles, member, members) * VectorTile.ROWS;
    int end = Math.min(rows, share(rowTiles, member + 1, members) * VectorTile.ROWS);
    int depth = Math.min(STRIP_COLUMNS, weights.columns());
    long stripBytes = (long) STRIP_ROWS * depth * Float.BYTES;
    long productRow = (long) tiles * VectorTile.ROW_BYTES;
    long strip = scratch.own(member).atLeast(stripBytes + STRIP_ROWS * productRow);
    long product = strip + stripBytes;
    for (int row = begin; row < end; row += STRIP_ROWS) {
      int count = Math.min(STRIP_ROWS, end - row);
      MemorySegment zeros = Lanes.ALL.asSlice(product, STRIP_ROWS * productRow);
      zeros.fill((byte) 0);
      for (int column = 0; column < weights.columns(); column += STRIP_COLUMNS) {
        int width = Math.min(STRIP_COLUMNS, weights.columns() - column);
        decode(row, count, column, width, strip);
        multiplyStrip(strip, count, column, width, product, productRow);
      }
      turn(product, productRow, row, count);
    }
  }

  private void decode(int row, int count, int column, int width, long strip) {
    for (int r = 0; r < count; r++) {
      int p = weights.part(row + r);
      Tensor part = weights.parts().get(p);
      long inPart = row + r - weights.firstRow(p);
      VectorDecode.run(part, inPart, column, width, strip + 4L * r * width);
    }
  }

  private void multiplyStrip(
      long strip, int count, int column, int width, long product, long productRow) {
    long rowBytes = 4L * width;
    for (int tile = 0; tile < tiles; tile++) {
      long panel = panels + ((long) tile * weights.columns() + column) * VectorTile.ROW_BYTES;
      long out = product + (long) tile * VectorTile.ROW_BYTES;
      for (int r = 0; r < count; r += VectorTile.ROWS) {
        VectorTile.multiply(
            strip + r * rowBytes, rowBytes, 4, width, panel, out + r * productRow, productRow);
      }
    }
  }

  /** Writes a strip's product, [row][token], to the output, [token][row]. */
  private void turn(long product, long productRow, int row, int count) {
    for (int token = 0; token < tokens; token++) {
      long from = product + 4L * token;
      long to = y.address(token) + 4L * row;
      for (int r = 0; r < count; r++) {
        Lanes.put(to + 4L * r, Lanes.scalar(from + r * productRow));
      }
    }
  }

  long scratchBytes() {
    return scratch.bytes();
  }

  @Override
  public void close() {
    scratch.close();
  }
}
