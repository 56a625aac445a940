package io.steelyard.kernels;

import static io.steelyard.kernels.ThreadTeam.share;

import java.lang.foreign.MemorySegment;

/**
 * Matrix products of the vector tier.
 *
 * <p>Few tokens: each thread streams its own rows through {@link VectorDot}. Many tokens: the
 * activations are turned once into panels whose lanes are tokens; each thread then takes its rows
 * in strips, decodes a strip to float32 once for all tokens, and multiplies it with every panel by
 * {@link VectorTile}. A strip and a panel together fit the second-level cache.
 */
final class VectorMatmul implements AutoCloseable {
  /** Up to so many tokens the decoding path is taken; their results are those of single tokens. */
  static final int FEW = 4;

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

  private final ThreadTeam.Task rows = this::rows;
  private final ThreadTeam.Task pack = this::pack;
  private final ThreadTeam.Task many = this::many;

  VectorMatmul(ThreadTeam team, int few) {
    this.team = team;
    this.few = few;
    scratch = new TeamScratch(team);
  }

  void multiply(StackedMatrix weights, Rows x, Rows y, int tokens) {
    this.weights = weights;
    this.x = x;
    this.y = y;
    this.tokens = tokens;
    if (tokens <= few) {
      int blocks = weights.columns() / VectorDot.SUM_BLOCK;
      long lanes = scratch.shared().atLeast(Lanes.BYTES + 4L * tokens * blocks);
      sums = lanes + Lanes.BYTES;
      for (int token = 0; token < tokens; token++) {
        VectorDot.sums(x.address(token), weights.columns(), sums + 4L * token * blocks, lanes);
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
    long lanes = scratch.own(member).atLeast(Lanes.BYTES + decodedBytes());
    int first = 0;
    for (int p = 0; p < weights.parts().size(); p++) {
      Tensor part = weights.parts().get(p);
      int rows = (int) part.rows();
      int from = Math.max(begin, first);
      int to = Math.min(end, first + rows);
      if (from < to) {
        if (VectorDot.takes(part.type())) {
          rows(part, from - first, to - from, from, lanes);
        } else {
          decodedRows(part, from - first, to - from, from, lanes);
        }
      }
      first += rows;
    }
  }

  /** Room for a decoded row, if any part needs that. */
  private long decodedBytes() {
    for (int p = 0; p < weights.parts().size(); p++) {
      if (!VectorDot.takes(weights.parts().get(p).type())) {
        return 4L * weights.columns();
      }
    }
    return 0;
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
