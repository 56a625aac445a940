package io.steelyard.kernels;

import static io.steelyard.kernels.ThreadTeam.share;

import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.TileCode;
import io.steelyard.kernels.machine.TileCode.TilePart;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Products of many tokens in AMX tiles.
 *
 * <p>Activations are written once as blocks of bf16. Each thread takes strips of rows: of a strip
 * it multiplies a slice of the columns at a time, whose activations stay in the second-level cache
 * as the strip's sums do; of a slice it writes 32 rows of weights as bf16, which stay in the
 * first-level cache, and multiplies them with all tokens.
 */
final class TileMatmul {
  /**
   * Most bytes of 32 rows of a slice, as bf16: of the first-level cache about what a thread has
   * that shares it with another.
   */
  private static final int BLOCK_BYTES = 24 << 10;

  /** Chunks of a slice of weights whose blocks are so many chunks, and of split ones. */
  private static final int CHUNKS_OF_LARGE_BLOCKS = 8;

  private static final int CHUNKS_OF_SPLIT = 4;

  /** Tokens whose sums stay in the second-level cache. */
  private static final int BATCH = 512;

  /** Rows of a strip at most, and how many strips each thread should have at least. */
  private static final int STRIP = 256;

  private static final int STRIPS = 4;

  private static final int LINE = 64;

  private final ThreadTeam team;
  private final TileCode code;
  private final TeamScratch scratch;
  private final TeamCalls calls;

  // The operands of the product in progress; fields, so that a call allocates nothing.
  private StackedMatrix weights;
  private Rows x;
  private Rows y;
  private int tokens;
  private boolean split;
  private Function packActivations;
  private Function product;
  private Function results;
  private long activations;

  /** Chunks of a slice. */
  private int slice;

  /** Rows of a strip. */
  private int strip;

  /** The first strip that no thread has taken. */
  private final AtomicInteger next = new AtomicInteger();

  private final ThreadTeam.Task pack = this::pack;
  private final ThreadTeam.Task strips = this::strips;

  TileMatmul(ThreadTeam team, TileCode code, TeamScratch scratch, TeamCalls calls) {
    this.team = team;
    this.code = code;
    this.scratch = scratch;
    this.calls = calls;
  }

  /** Multiplies, unless some part is of a type that isn't multiplied in tiles; says if it did. */
  boolean multiply(StackedMatrix weights, Rows x, Rows y, int tokens) {
    for (int p = 0; p < weights.held().size(); p++) {
      if (!code.takes(weights.held().get(p).type())) {
        return false;
      }
    }
    this.weights = weights;
    product(false, x, y, tokens);
    product(true, x, y, tokens);
    return true;
  }

  /** The product of all parts that are split, or of all that aren't. */
  private void product(boolean split, Rows x, Rows y, int tokens) {
    boolean any = false;
    slice = split ? CHUNKS_OF_SPLIT : BLOCK_BYTES / TileCode.weightBytes(false);
    for (int p = 0; p < weights.held().size(); p++) {
      DataType type = weights.held().get(p).type();
      if (code.splits(type) == split) {
        any = true;
        if (type.blockSize() > TileCode.CHUNK) {
          slice = CHUNKS_OF_LARGE_BLOCKS;
        }
        // Assembled here, before several threads ask for it.
        code.weights(type);
      }
    }
    if (!any) {
      return;
    }
    this.split = split;
    packActivations = code.activations(split);
    product = code.product(split);
    results = code.part(TilePart.RESULTS);
    int share = weights.rows() / team.threads() / STRIPS / TileCode.ROWS * TileCode.ROWS;
    strip = Math.clamp(share, TileCode.ROWS, STRIP);
    for (int first = 0; first < tokens; first += BATCH) {
      this.tokens = Math.min(BATCH, tokens - first);
      this.x = x.from(first);
      this.y = y.from(first);
      activations =
          scratch.shared().atLeast((long) blocks() * chunks() * TileCode.activationBytes(split));
      team.run(pack);
      next.set(0);
      team.run(strips);
    }
  }

  private int chunks() {
    return (weights.columns() + TileCode.CHUNK - 1) / TileCode.CHUNK;
  }

  /** Blocks of tokens. */
  private int blocks() {
    return (tokens + TileCode.TOKENS - 1) / TileCode.TOKENS;
  }

  /** Where the activations of a slice, by its first chunk, and block of tokens are. */
  private long activations(int chunk, int block) {
    int inSlice = Math.min(slice, chunks() - chunk);
    return activations
        + ((long) chunk * blocks() + (long) block * inSlice) * TileCode.activationBytes(split);
  }

  private void pack(int member, int members) {
    int slices = (chunks() + slice - 1) / slice;
    CallList list = calls.of(member);
    int end = share(blocks() * slices, member + 1, members);
    for (int i = share(blocks() * slices, member, members); i < end; i++) {
      int chunk = i % slices * slice;
      int column = chunk * TileCode.CHUNK;
      int columns = Math.min(slice * TileCode.CHUNK, weights.columns() - column);
      int token = i / slices * TileCode.TOKENS;
      list.add(
          packActivations,
          x.address(token) + 4L * column,
          4L * x.stride(),
          activations(chunk, i / slices),
          Math.min(TileCode.TOKENS, tokens - token),
          columns / TileCode.CHUNK,
          columns % TileCode.CHUNK);
    }
    list.run();
  }

  private int strips(Tensor part) {
    return (int) ((part.rows() + strip - 1) / strip);
  }

  private void strips(int member, int members) {
    int groups = strip / TileCode.ROWS;
    long block =
        scratch.own(member).atLeast(BLOCK_BYTES + (long) groups * blocks() * TileCode.SUM_BYTES);
    int all = 0;
    for (int p = 0; p < weights.held().size(); p++) {
      all += strips(weights.held().get(p));
    }
    for (int i = next.getAndIncrement(); i < all; i = next.getAndIncrement()) {
      int left = i;
      int firstRow = 0;
      int p = 0;
      for (; left >= strips(weights.held().get(p)); p++) {
        left -= strips(weights.held().get(p));
        firstRow += (int) weights.held().get(p).rows();
      }
      Tensor part = weights.held().get(p);
      if (code.splits(part.type()) == split) {
        strip(part, left * strip, firstRow, block, calls.of(member));
      }
    }
  }

  /**
   * Multiplies a strip.
   *
   * @param row the strip's first in its part
   * @param firstRow the part's first in the product
   */
  private void strip(Tensor part, int row, int firstRow, long block, CallList list) {
    int rows = (int) Math.min(strip, part.rows() - row);
    int groups = (rows + TileCode.ROWS - 1) / TileCode.ROWS;
    long sums = block + BLOCK_BYTES;
    int blocks = blocks();
    long groupSums = (long) blocks * TileCode.SUM_BYTES;
    Function packWeights = code.weights(part.type());
    boolean single = part.type().blockSize() == 1;
    int unit = single ? TileCode.CHUNK : part.type().blockSize();
    for (int chunk = 0; chunk < chunks(); chunk += slice) {
      int inSlice = Math.min(slice, chunks() - chunk);
      int column = chunk * TileCode.CHUNK;
      int columns = (int) Math.min((long) inSlice * TileCode.CHUNK, part.columns() - column);
      for (int g = 0; g < groups; g++) {
        list.add(
            packWeights,
            weights(part, row + g * TileCode.ROWS, column),
            part.rowBytes(),
            block,
            Math.min(TileCode.ROWS, rows - g * TileCode.ROWS),
            columns / unit,
            single ? columns % unit : 0);
        boolean lastGroup = g == groups - 1;
        long next =
            weights(
                part,
                row + (lastGroup ? 0 : (g + 1) * TileCode.ROWS),
                lastGroup ? column + columns : column);
        list.add(product, block, activations(chunk, 0), sums + g * groupSums, blocks, inSlice);
        list.put(0, chunk > 0 ? 1 : 0);
        list.put(1, next);
        list.put(2, part.rowBytes());
        list.put(3, (TileCode.ROWS + blocks - 1) / blocks);
        list.put(4, part.type().bytes(columns) / LINE + 1);
      }
      list.run();
    }
    for (int b = 0; b < blocks; b++) {
      int token = b * TileCode.TOKENS;
      for (int g = 0; g < groups; g++) {
        int left = rows - g * TileCode.ROWS;
        boolean lastGroup = g == groups - 1;
        list.add(
            results,
            sums + g * groupSums + (long) b * TileCode.SUM_BYTES,
            result(token, firstRow + row + g * TileCode.ROWS),
            4L * y.stride(),
            Math.min(TileCode.TOKENS, tokens - token),
            left >= TileCode.ROWS ? 0xFFFF_FFFFL : (1L << left) - 1,
            result(
                lastGroup ? token + TileCode.TOKENS : token,
                firstRow + row + (lastGroup ? 0 : (g + 1) * TileCode.ROWS)));
      }
    }
    list.run();
  }

  private static long weights(Tensor part, int row, int column) {
    return part.data().address() + row * part.rowBytes() + part.type().bytes(column);
  }

  private long result(int token, int row) {
    return y.address(token) + 4L * row;
  }
}
