package io.steelyard.kernels;

import io.steelyard.kernels.amx.TileSoftmax;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode;
import io.steelyard.kernels.machine.TileCode;
import io.steelyard.kernels.machine.TileCode.TilePart;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Attention of many tokens in AMX tiles, online over blocks of keys.
 *
 * <p>The rows are a head's queries of all tokens. Each thread takes bands of them; it writes a
 * block of keys and values as tiles once for a band. Scores and sums are split products, so that
 * nothing is rounded to fewer than 16 bits.
 *
 * <p>Source: Dao et al., "FlashAttention" (2022).
 */
final class TileAttention implements AutoCloseable {
  /** Keys of a block: their scores and weights stay in the second-level cache. */
  private static final int KEYS = 256;

  /** Blocks of 32 rows of a band. */
  private static final int BAND = 8;

  /** Bytes of a product's last argument. */
  private static final int LONGS = 64;

  private static final double LOG2_E = 1 / Math.log(2);

  private static final float[] LOWEST = new float[TileCode.ROWS];

  static {
    Arrays.fill(LOWEST, TileSoftmax.LOWEST);
  }

  private final ThreadTeam team;
  private final MachineCode code;
  private final TileCode tiles;
  private final Item[] items;
  private final TeamCalls calls;

  // The operands of the call in progress.
  private MachineCache cache;
  private Rows queries;
  private Rows out;
  private int position;
  private int rows;
  private int group;
  private int bands;
  private int lastPosition;
  private AttentionRule rule;
  private float scale;
  private Function panels;
  private Function product;
  private Function query;
  private Function softmax;
  private Function attended;

  /** How many items have been taken. */
  private final AtomicInteger next = new AtomicInteger();

  private final ThreadTeam.Task attend = this::attend;

  TileAttention(ThreadTeam team, MachineCode code, TileCode tiles, TeamCalls calls) {
    this.team = team;
    this.calls = calls;
    this.code = code;
    this.tiles = tiles;
    items = new Item[team.threads()];
    for (int i = 0; i < items.length; i++) {
      items[i] = new Item();
    }
  }

  /**
   * Whether it is exact enough for a cache, and knows the rule.
   *
   * @param positions how many there are after the call
   */
  static boolean takes(MachineCache cache, AttentionRule rule, int positions) {
    return cache.shape().type() != DataType.F32
        && rule.softCap() == 0
        && (rule.window() == 0 || rule.window() >= positions);
  }

  void run(
      MachineCache cache, Rows queries, Rows out, int position, int tokens, AttentionRule rule) {
    this.cache = cache;
    this.queries = queries;
    this.out = out;
    this.position = position;
    this.rule = rule;
    lastPosition = position + tokens - 1;
    scale = (float) (rule.scale() * LOG2_E);
    group = queries.width() / cache.shape().width();
    rows = tokens * group;
    bands = (rows + BAND * TileCode.ROWS - 1) / (BAND * TileCode.ROWS);
    if (cache.isBytes()) {
      code.single(MachineCode.Single.WIDEN_KEYS);
      code.single(MachineCode.Single.WIDEN_VALUES);
    }
    panels = tiles.panels(cache.isBytes() ? DataType.F32 : DataType.F16);
    product = tiles.product(true);
    query = tiles.part(TilePart.QUERY);
    softmax = tiles.part(TilePart.SOFTMAX);
    attended = tiles.part(TilePart.ATTENDED);
    next.set(0);
    team.run(attend);
  }

  private void attend(int member, int members) {
    int heads = cache.shape().heads();
    Item item = items[member];
    item.prepare(calls.of(member));
    // Later bands see more keys, so they come first.
    for (int i = next.getAndIncrement(); i < bands * heads; i = next.getAndIncrement()) {
      item.attend(i % heads, bands - 1 - i / heads);
    }
  }

  /** The position after the last that a row sees. */
  private int end(int row) {
    return rule.end(position + row / group, lastPosition);
  }

  /** Where a row's values are in queries or output. */
  private long address(int head, int row, Rows rows) {
    return rows.address(row / group)
        + 4L * (head * group + row % group) * cache.shape().dimension();
  }

  /** The work of one thread on one band of a head. */
  private final class Item {
    private CallList calls;
    private final int[] visible = new int[TileCode.ROWS];
    private final Scratch scratch = new Scratch();
    private int chunks;
    private int valueBlocks;
    private long queryBytes;
    private long sumBytes;
    private long query;
    private long keys;
    private long values;
    private long scores;
    private long weights;
    private long sums;
    private long states;
    private long begin;
    private long add;
    private long widened;

    void prepare(CallList list) {
      calls = list;
      chunks = (cache.shape().dimension() + TileCode.CHUNK - 1) / TileCode.CHUNK;
      valueBlocks = 2 * cache.runs();
      queryBytes = (long) chunks * TileCode.weightBytes(true);
      sumBytes = (long) valueBlocks * TileCode.SUM_BYTES;
      long keyBytes = (long) KEYS / TileCode.TOKENS * chunks * TileCode.activationBytes(true);
      long valueBytes = (long) KEYS / TileCode.CHUNK * valueBlocks * TileCode.activationBytes(true);
      long scoreBytes = (long) KEYS / TileCode.TOKENS * TileCode.SUM_BYTES;
      long weightBytes = (long) KEYS / TileCode.CHUNK * TileCode.weightBytes(true);
      long ofBand = queryBytes + sumBytes + TileSoftmax.STATE;
      query =
          scratch.atLeast(
              BAND * ofBand
                  + keyBytes
                  + valueBytes
                  + scoreBytes
                  + weightBytes
                  + 2 * LONGS
                  + cache.widenedBytes(KEYS));
      sums = query + BAND * queryBytes;
      states = sums + BAND * sumBytes;
      keys = states + (long) BAND * TileSoftmax.STATE;
      values = keys + keyBytes;
      scores = values + valueBytes;
      weights = scores + scoreBytes;
      begin = weights + weightBytes;
      add = begin + LONGS;
      RawMemory.clear(begin, 2 * LONGS);
      RawMemory.putLong(add, 1);
      widened = add + LONGS;
    }

    void attend(int head, int band) {
      int first = band * BAND * TileCode.ROWS;
      int count = Math.min(BAND * TileCode.ROWS, rows - first);
      begin(head, first, count);
      int end = end(first + count - 1);
      for (int key = 0; key < end; key += KEYS) {
        int seen = Math.min(KEYS, end - key);
        keys(head, key, seen);
        values(head, key, seen);
        for (int row = 0; row < count; row += TileCode.ROWS) {
          int inBlock = Math.min(TileCode.ROWS, count - row);
          if (key < end(first + row + inBlock - 1)) {
            step(first + row, inBlock, row / TileCode.ROWS, key, seen);
          }
        }
      }
      finish(head, first, count);
    }

    private long state(int block) {
      return states + (long) block * TileSoftmax.STATE;
    }

    private void begin(int head, int first, int count) {
      int dimension = cache.shape().dimension();
      for (int row = 0; row < count; row++) {
        int block = row / TileCode.ROWS;
        int inBlock = row % TileCode.ROWS;
        calls.add(
            TileAttention.this.query,
            address(head, first + row, queries),
            query + block * queryBytes + 64L * inBlock,
            dimension / TileCode.CHUNK,
            dimension % TileCode.CHUNK,
            Float.floatToRawIntBits(scale) & 0xFFFF_FFFFL,
            0);
      }
      for (int row = 0; row < count; row += TileCode.ROWS) {
        long state = state(row / TileCode.ROWS);
        RawMemory.putLong(state, valueBlocks);
        RawMemory.putFloats(state + TileSoftmax.LARGEST, LOWEST, TileCode.ROWS);
        RawMemory.clear(state + TileSoftmax.WEIGHT_SUMS, (long) TileSoftmax.ROW * TileCode.ROWS);
      }
    }

    private void keys(int head, int key, int count) {
      long blockBytes = (long) chunks * TileCode.activationBytes(true);
      for (int at = 0; at < count; at += MachineCache.GROUP) {
        int group = (key + at) / MachineCache.GROUP;
        long panel = cache.keys(head, group);
        if (cache.isBytes()) {
          // The call that reads what was widened before.
          calls.run();
          cache.widenKeys(code, head, group, widened);
          panel = widened;
        }
        calls.add(
            panels,
            panel,
            keys + at / TileCode.TOKENS * blockBytes,
            blockBytes,
            cache.shape().dimension(),
            0,
            0);
      }
    }

    private void values(int head, int key, int count) {
      long blockBytes =
          (long) (count + TileCode.CHUNK - 1) / TileCode.CHUNK * TileCode.activationBytes(true);
      for (int run = 0; run < cache.runs(); run++) {
        long panel = cache.values(head, run, key);
        if (cache.isBytes()) {
          calls.run();
          cache.widenValues(code, head, run, key, count, widened);
          panel = widened;
        }
        calls.add(panels, panel, values + 2L * run * blockBytes, blockBytes, count, 0, 0);
      }
    }

    /** A block of rows and a block of keys, of which the band sees so many. */
    private void step(int firstRow, int inBlock, int block, int key, int seen) {
      int pairs = (seen + TileCode.CHUNK - 1) / TileCode.CHUNK;
      long rowSums = sums + block * sumBytes;
      calls.add(product, query + block * queryBytes, keys, scores, 2L * pairs, chunks, begin);
      for (int row = 0; row < inBlock; row++) {
        visible[row] = end(firstRow + row) - key;
      }
      RawMemory.putInts(state(block) + TileSoftmax.VISIBLE, visible, inBlock);
      calls.add(softmax, scores, weights, state(block), inBlock, pairs, rowSums);
      calls.add(product, weights, values, rowSums, valueBlocks, pairs, key > 0 ? add : begin);
      calls.run();
    }

    private void finish(int head, int first, int count) {
      int dimension = cache.shape().dimension();
      for (int row = 0; row < count; row++) {
        int block = row / TileCode.ROWS;
        long inBlock = row % TileCode.ROWS;
        calls.add(
            attended,
            sums + block * sumBytes + 64 * inBlock,
            address(head, first + row, out),
            dimension / TileCode.TOKENS,
            dimension % TileCode.TOKENS,
            state(block) + TileSoftmax.WEIGHT_SUMS + TileSoftmax.ROW * inBlock,
            0);
      }
      calls.run();
    }
  }

  long scratchBytes() {
    long bytes = 0;
    for (Item item : items) {
      bytes += item.scratch.bytes();
    }
    return bytes;
  }

  @Override
  public void close() {
    for (Item item : items) {
      item.scratch.close();
    }
  }
}
