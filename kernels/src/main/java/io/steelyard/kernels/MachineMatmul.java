package io.steelyard.kernels;

import static io.steelyard.kernels.ThreadTeam.share;

import io.steelyard.kernels.avx2.EightBitFloats;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode;
import io.steelyard.kernels.machine.MachineCode.Single;
import io.steelyard.kernels.machine.Product;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Matrix products of the machine-code tier.
 *
 * <p>Few tokens: {@link FewMatmul}. Many tokens: {@link TileMatmul} where there are tiles;
 * elsewhere the activations are written once for a few tokens each, and each thread takes its rows
 * in strips, turns a strip into panels once for all tokens, and multiplies them with those of every
 * few. A strip's panels stay in the second-level cache, and a panel in the first where the code
 * asks for it.
 */
final class MachineMatmul implements AutoCloseable {
  /** Up to so many tokens the decoding path is taken; their results are those of single tokens. */
  static final int FEW = 16;

  /**
   * Groups of rows are dealt in pieces to whoever is free, since processors are not equally fast at
   * every moment.
   */
  private static final int PIECE_GROUPS = 4;

  private static final long ALL_ROWS = 0xFFFF_FFFFL;
  private static final long ADD = 1L << 32;
  private static final int HALF = 16;

  private final ThreadTeam team;
  private final int few;
  private final MachineCode code;
  private final TeamScratch scratch;
  private final TeamCalls calls;
  private final FewMatmul fewMatmul;
  private final Optional<TileMatmul> tileMatmul;

  // The operands of the product in progress; fields, so that a call allocates nothing.
  private StackedMatrix weights;
  private Rows x;
  private Rows y;
  private int tokens;

  /** Where the tiles of each kind in use begin. */
  private final Map<Product, Long> tiles = new EnumMap<>(Product.class);

  /** The first group of rows that no thread has taken. */
  private final AtomicInteger next = new AtomicInteger();

  private final ThreadTeam.Task pack = this::pack;
  private final ThreadTeam.Task many = this::many;

  /**
   * Begins.
   *
   * @param few up to so many tokens the decoding path is taken
   */
  MachineMatmul(ThreadTeam team, MachineCode code, int few, TeamCalls calls) {
    this.team = team;
    this.few = few;
    this.code = code;
    this.calls = calls;
    scratch = new TeamScratch(team);
    fewMatmul = new FewMatmul(team, code, scratch, calls);
    tileMatmul = code.tiles().map(tileCode -> new TileMatmul(team, tileCode, scratch, calls));
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
      fewMatmul.multiply(weights, x, y, tokens);
    } else if (tileMatmul.isEmpty() || !tileMatmul.get().multiply(weights, x, y, tokens)) {
      multiplyMany();
    }
    scaleProducts();
  }

  /** Multiplies products with what lies beside their weights, and what makes up for their code. */
  private void scaleProducts() {
    CallList list = calls.of(0);
    int first = 0;
    for (int p = 0; p < weights.held().size(); p++) {
      Tensor part = weights.held().get(p);
      int rows = (int) part.rows();
      if (EightBitFloats.has(part.type())) {
        float factor = EightBitFloats.factor(part.type());
        int scales = Math.max(1, (int) (part.scales().byteSize() / Float.BYTES));
        for (int token = 0; token < tokens; token++) {
          long products = y.address(token) + 4L * first;
          if (scales == rows && part.scales().isNative()) {
            long each = part.scales().address();
            list.add(code.single(Single.MULTIPLY), products, each, rows, 0, 0, 0);
            scale(list, products, rows, factor);
          } else {
            for (int row = 0; row < rows; row += rows / scales) {
              scale(list, products + 4L * row, rows / scales, part.scale(row) * factor);
            }
          }
        }
      }
      first += rows;
    }
    list.run();
  }

  private void scale(CallList list, long values, int count, float factor) {
    long bits = Float.floatToRawIntBits(factor) & 0xFFFF_FFFFL;
    list.add(code.single(Single.SCALE), values, values, count, bits, 0, 0);
  }

  private void multiplyMany() {
    Map<Product, Long> sizes = new EnumMap<>(Product.class);
    for (Tensor part : weights.held()) {
      Product product = code.product(part.type());
      Product tile = product.tile();
      long count = (tokens + tile.tokens() - 1L) / tile.tokens();
      sizes.put(tile, count * chunks(tile) * tile.tileChunk());
      code.tile(tile);
      code.product(product, product.tokens());
      int rest = tokens % product.tokens();
      if (rest > 0) {
        code.product(product, rest);
      }
      prepareCode(part.type(), product);
    }
    long all = sizes.values().stream().mapToLong(Long::longValue).sum();
    long address = scratch.shared().atLeast(all);
    tiles.clear();
    for (Map.Entry<Product, Long> each : sizes.entrySet()) {
      tiles.put(each.getKey(), address);
      address += each.getValue();
    }
    team.run(pack);
    next.set(0);
    team.run(many);
  }

  private void prepareCode(DataType type, Product product) {
    if (product.isInteger()) {
      code.unpack(type);
      code.transposeConstants(product);
    }
    if (product.isBytes()) {
      code.transposeBytes(product);
    } else {
      code.single(Single.TRANSPOSE);
    }
    if (product.isWords()) {
      code.single(Single.WORDS);
    } else if (!product.isInteger() && type != DataType.F32) {
      code.single(MachineCode.widening(type));
    }
  }

  private int chunks(Product product) {
    return (weights.columns() + product.chunkValues() - 1) / product.chunkValues();
  }

  private void pack(int member, int members) {
    CallList list = calls.of(member);
    for (Map.Entry<Product, Long> each : tiles.entrySet()) {
      Product product = each.getKey();
      int count = (tokens + product.tokens() - 1) / product.tokens();
      int end = share(count, member + 1, members);
      for (int tile = share(count, member, members); tile < end; tile++) {
        long bytes = (long) chunks(product) * product.tileChunk();
        packTile(product, tile, each.getValue() + tile * bytes, list);
      }
    }
    list.run();
  }

  private void packTile(Product product, int tile, long address, CallList list) {
    int whole = weights.columns() / product.chunkValues();
    int rest = weights.columns() % product.chunkValues();
    int first = tile * product.tokens();
    int count = Math.min(product.tokens(), tokens - first);
    Function function = code.tile(product);
    for (int token = 0; token < count; token++) {
      list.add(
          function,
          x.address(first + token),
          address + (long) product.tokenBytes() * token,
          whole,
          rest,
          address + product.tileScale(token),
          0);
    }
  }

  private void many(int member, int members) {
    int groups = 0;
    for (int p = 0; p < weights.held().size(); p++) {
      groups += groups(weights.held().get(p));
    }
    int piece = Math.max(1, Math.min(PIECE_GROUPS, groups / members));
    CallList list = calls.of(member);
    for (int begin = next.getAndAdd(piece); begin < groups; begin = next.getAndAdd(piece)) {
      groups(begin, Math.min(groups, begin + piece), scratch.own(member), list);
    }
  }

  private void groups(int begin, int end, Scratch own, CallList list) {
    int first = 0;
    int firstRow = 0;
    for (int p = 0; p < weights.held().size(); p++) {
      Tensor part = weights.held().get(p);
      int from = Math.max(begin, first) - first;
      int to = Math.min(end, first + groups(part)) - first;
      if (from < to) {
        new Strip(part, firstRow, own, list).multiply(from, to);
      }
      first += groups(part);
      firstRow += (int) part.rows();
    }
  }

  private static int groups(Tensor part) {
    return (int) ((part.rows() + Product.ROWS - 1) / Product.ROWS);
  }

  /** Panels of some groups of rows of one tensor, and a slice of its columns at a time. */
  private final class Strip {
    private final Tensor part;
    private final int firstRow;
    private final DataType type;
    private final Product product;
    private final Product tile;
    private final int chunks;
    private final int slice;
    private final int width;
    private final long panelBytes;
    private final long panels;
    private final long values;
    private final long scales;
    private final long offsets;
    private final long unpacked;
    private final CallList list;
    private final long valueStride;
    private final long scaleStride;

    Strip(Tensor part, int firstRow, Scratch scratch, CallList list) {
      this.list = list;
      this.part = part;
      this.firstRow = firstRow;
      type = part.type();
      product = code.product(type);
      tile = product.tile();
      chunks = chunks(product);
      // A multiple of the eight chunks whose constants are turned together, and of large blocks.
      int unit = Math.max(8, (product.isInteger() ? 256 : 64) / product.chunkValues());
      long most = Math.min(code.cacheBytes(), code.panelBytes(product));
      slice = Math.min(chunks, (int) (most / product.panelChunk()) / unit * unit);
      panelBytes = (long) slice * product.panelChunk();
      width = (int) Math.max(1, Math.min(4, code.cacheBytes() / panelBytes));
      int sliceValues = slice * product.chunkValues();
      valueStride = product.isBytes() ? sliceValues : (long) slice * product.tokenBytes();
      // One for 16 values at most.
      scaleStride = (sliceValues / 16 + 7) / 8 * 32L;
      // Turning constants eight chunks at a time may write past the last panel.
      long all = width * panelBytes + 8L * product.panelChunk();
      panels =
          scratch.atLeast(all + HALF * (valueStride + 2 * scaleStride) + (long) HALF * sliceValues);
      values = panels + all;
      scales = values + HALF * valueStride;
      offsets = scales + HALF * scaleStride;
      unpacked = offsets + HALF * scaleStride;
    }

    void multiply(int from, int to) {
      for (int group = from; group < to; group += width) {
        int count = Math.min(width, to - group);
        for (int chunk = 0; chunk < chunks; chunk += slice) {
          int sliceChunks = Math.min(slice, chunks - chunk);
          for (int g = 0; g < count; g++) {
            panel(group + g, chunk, sliceChunks, panels + g * panelBytes);
          }
          products(group, count, chunk, sliceChunks);
        }
      }
      list.run();
    }

    private void products(int group, int count, int chunk, int sliceChunks) {
      long tiles = MachineMatmul.this.tiles.get(tile);
      for (int token = 0; token < tokens; token += product.tokens()) {
        int inTile = Math.min(product.tokens(), tokens - token);
        Function function = code.product(product, inTile);
        long address =
            tiles + ((long) token / product.tokens() * chunks + chunk) * product.tileChunk();
        for (int g = 0; g < count; g++) {
          int row = (group + g) * Product.ROWS;
          long left = part.rows() - row;
          long rows = left >= Product.ROWS ? ALL_ROWS : (1L << left) - 1;
          list.add(
              function,
              panels + g * panelBytes,
              address,
              y.address(token) + 4L * (firstRow + row),
              4L * y.stride(),
              sliceChunks,
              rows | (chunk > 0 ? ADD : 0));
        }
      }
    }

    private void panel(int group, int chunk, int sliceChunks, long panel) {
      for (int half = 0; half < 2; half++) {
        int row = group * Product.ROWS + half * HALF;
        int rows = Math.clamp(part.rows() - row, 0, HALF);
        long to = panel + 64L * half;
        if (product.isInteger()) {
          integers(row, rows, chunk, sliceChunks, to);
        } else {
          floats(row, rows, chunk, sliceChunks, to);
        }
      }
    }

    private long row(int row, int chunk) {
      return part.data().address()
          + row * part.rowBytes()
          + type.bytes((long) chunk * product.chunkValues());
    }

    private void integers(int row, int rows, int chunk, int sliceChunks, long to) {
      if (rows < HALF) {
        list.run();
        RawMemory.clear(scales + rows * scaleStride, (HALF - rows) * scaleStride);
        RawMemory.clear(offsets + rows * scaleStride, (HALF - rows) * scaleStride);
      }
      if (product.isWords()) {
        words(row, rows, chunk, sliceChunks, to);
      } else {
        unpack(row, rows, chunk, sliceChunks, values, valueStride);
        Function transpose =
            product.isBytes() ? code.transposeBytes(product) : code.single(Single.TRANSPOSE);
        list.add(transpose, to, values, valueStride, sliceChunks, product.panelChunk(), 32);
      }
      int pieces = (sliceChunks * product.runs() + 7) / 8;
      long advance = 8L / product.runs() * product.panelChunk();
      Function constants = code.transposeConstants(product);
      list.add(constants, to + product.scales(), scales, scaleStride, pieces, advance, 32);
      if (product.hasOffset()) {
        list.add(constants, to + product.offsets(), offsets, scaleStride, pieces, advance, 32);
      }
    }

    /** A chunk of words is two pieces of 32 bytes. */
    private void words(int row, int rows, int chunk, int sliceChunks, long to) {
      long bytes = 32L * sliceChunks;
      unpack(row, rows, chunk, sliceChunks, unpacked, bytes);
      list.add(code.single(Single.WORDS), unpacked, values, (long) HALF * sliceChunks, 0, 0, 0);
      Function transpose = code.single(Single.TRANSPOSE);
      for (int piece = 0; piece < 2; piece++) {
        list.add(
            transpose,
            to + piece * 1024L,
            values + piece * 32L,
            2 * bytes,
            sliceChunks,
            product.panelChunk(),
            64);
      }
    }

    /**
     * Bytes, scales and offsets of some rows, zeros behind them; sliceChunks are of 32 values. What
     * uses the places of fewer rows must have run.
     */
    private void unpack(int row, int rows, int chunk, int sliceChunks, long to, long stride) {
      if (rows < HALF) {
        RawMemory.clear(to + rows * stride, (HALF - rows) * stride);
      }
      if (rows > 0) {
        int blocks = sliceChunks / (type.blockSize() / 32);
        list.add(code.unpack(type), row(row, chunk), to, scales, offsets, blocks);
        list.put(0, rows);
        list.put(1, part.rowBytes());
        list.put(2, stride);
        list.put(3, scaleStride);
      }
    }

    private void floats(int row, int rows, int chunk, int sliceChunks, long to) {
      long first = (long) chunk * product.chunkValues();
      int count =
          (int) Math.min((long) sliceChunks * product.chunkValues(), part.columns() - first);
      boolean same = type == DataType.F32 || (type == DataType.BF16 && product != Product.F32);
      boolean direct = same && rows == HALF && count == sliceChunks * product.chunkValues();
      if (!direct) {
        list.run();
        RawMemory.clear(values, HALF * valueStride);
        for (int r = 0; r < rows; r++) {
          long value = values + r * valueStride;
          if (same) {
            RawMemory.copy(row(row + r, chunk), value, type.bytes(count));
          } else {
            Function widen = code.single(MachineCode.widening(type));
            list.add(widen, row(row + r, chunk), value, count, 0, 0, 0);
          }
        }
      }
      list.add(
          code.single(Single.TRANSPOSE),
          to,
          direct ? row(row, chunk) : values,
          direct ? part.rowBytes() : valueStride,
          sliceChunks,
          product.panelChunk(),
          32);
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
