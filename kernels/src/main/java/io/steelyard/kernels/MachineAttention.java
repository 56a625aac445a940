package io.steelyard.kernels;

import io.steelyard.kernels.avx2.Softmax;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode;
import io.steelyard.kernels.machine.MachineCode.Single;
import io.steelyard.kernels.machine.Product;
import java.util.Arrays;
import java.util.Optional;

/**
 * Attention of the machine-code tier: tiled, with the online softmax of FlashAttention (Dao et al.,
 * 2022). A tile's rows are the query heads that share a key-value head, of consecutive tokens.
 *
 * <p>For few tokens the positions are split too, in parts of a fixed size that are merged in order,
 * so that the result does not depend on the threads.
 */
final class MachineAttention {
  /** Positions whose scores are in memory at a time. */
  private static final int KEYS = 256;

  /** Positions of a part when there are few tokens. */
  private static final int SPLIT = 1024;

  private static final int ROWS = Product.F32.tokens();

  private static final float[] HIDDEN = new float[KEYS];

  static {
    Arrays.fill(HIDDEN, Softmax.LOWEST);
  }

  private final MachineCode code;
  private final ThreadTeam team;
  private final int few;
  private final Scratch shared = new Scratch();
  private final Item[] items;
  private final TeamCalls calls;
  private final Optional<TileAttention> tileAttention;

  // The operands of the call in progress.
  private MachineCache cache;
  private Rows queries;
  private Rows out;
  private int position;
  private int tokens;
  private AttentionRule rule;
  private int group;
  private int tiles;
  private int parts;
  private int partKeys;
  private long partials;

  private final ThreadTeam.Task attend = this::attend;

  MachineAttention(ThreadTeam team, MachineCode code, int few, TeamCalls calls) {
    this.team = team;
    this.calls = calls;
    this.few = few;
    this.code = code;
    items = new Item[team.threads()];
    for (int i = 0; i < items.length; i++) {
      items[i] = new Item();
    }
    tileAttention = code.tiles().map(tileCode -> new TileAttention(team, code, tileCode, calls));
  }

  void run(
      MachineCache cache, Rows queries, Rows out, int position, int tokens, AttentionRule rule) {
    if (tokens == 0) {
      return;
    }
    if (tokens > few
        && tileAttention.isPresent()
        && TileAttention.takes(cache, rule, position + tokens)) {
      tileAttention.get().run(cache, queries, out, position, tokens, rule);
      return;
    }
    this.cache = cache;
    this.queries = queries;
    this.out = out;
    this.position = position;
    this.tokens = tokens;
    this.rule = rule;
    group = queries.width() / cache.shape().width();
    tiles = (tokens * group + ROWS - 1) / ROWS;
    int all = position + tokens;
    partKeys = tokens <= few ? SPLIT : MachineCache.roundUp(all, KEYS);
    parts = (all + partKeys - 1) / partKeys;
    prepareCode();
    if (parts > 1) {
      partials = shared.atLeast(parts * (long) tiles * cache.shape().heads() * resultBytes());
    }
    team.run(attend);
    if (parts > 1) {
      merge();
    }
  }

  private void prepareCode() {
    code.tile(Product.F32);
    code.single(Single.SOFTMAX);
    code.single(Single.SCALE);
    code.single(Single.ADD_SCALED);
    if (rule.softCap() > 0) {
      code.single(Single.SOFT_CAP);
    }
    if (cache.isBytes()) {
      code.single(Single.WIDEN_KEYS);
      code.single(Single.WIDEN_VALUES);
    }
    code.product(cache.product(), ROWS);
    for (int row = 1; row < Math.min(ROWS, tokens * group); row++) {
      if (rowsOf(tiles - 1) == row || rowsOf(0) == row) {
        code.product(cache.product(), row);
      }
    }
  }

  private int rowsOf(int tile) {
    return Math.min(ROWS, tokens * group - tile * ROWS);
  }

  /** The position of a row's query. */
  private int own(int tile, int row) {
    return position + (tile * ROWS + row) / group;
  }

  /** The position after the last that a row sees. */
  private int end(int tile, int row) {
    return rule.end(own(tile, row), position + tokens - 1);
  }

  private int sumWidth() {
    return cache.runs() * MachineCache.GROUP;
  }

  private long stateBytes() {
    return Softmax.HEADER + (long) ROWS * Softmax.ROW;
  }

  /** Bytes of a tile's sums and of its softmax's state. */
  private long resultBytes() {
    return (4L * ROWS * sumWidth() + stateBytes() + 63) / 64 * 64;
  }

  private void attend(int member, int members) {
    int heads = cache.shape().heads();
    Item item = items[member];
    item.prepare(calls.of(member));
    // Later tiles see more keys, so they are dealt like cards.
    for (int i = member; i < tiles * heads * parts; i += members) {
      int part = i / (tiles * heads);
      int inPart = i % (tiles * heads);
      item.attend(inPart % heads, inPart / heads, part);
    }
  }

  private long partial(int head, int tile, int part) {
    long index = ((long) part * tiles + tile) * cache.shape().heads() + head;
    return partials + index * resultBytes();
  }

  /** The work of one thread on one tile. */
  private final class Item {
    private CallList calls;
    private final Scratch scratch = new Scratch();
    private long query;
    private long scores;
    private long weights;
    private long result;
    private long widened;

    void prepare(CallList list) {
      calls = list;
      long queryBytes = (long) cache.keyValues() / MachineCache.CHUNK * Product.F32.tileChunk();
      long scoreBytes = 4L * ROWS * KEYS;
      long weightBytes = (long) KEYS / MachineCache.CHUNK * Product.F32.tileChunk();
      query =
          scratch.atLeast(
              queryBytes + scoreBytes + weightBytes + resultBytes() + cache.widenedBytes(KEYS));
      scores = query + queryBytes;
      weights = scores + scoreBytes;
      result = weights + weightBytes;
      widened = result + resultBytes();
    }

    private long keys(int head, int group) {
      if (cache.isBytes()) {
        // The call that reads what was widened before.
        calls.run();
        cache.widenKeys(code, head, group, widened);
        return widened;
      }
      return cache.keys(head, group);
    }

    private long values(int head, int run, int key, int chunks) {
      if (cache.isBytes()) {
        calls.run();
        cache.widenValues(code, head, run, key, chunks * MachineCache.CHUNK, widened);
        return widened;
      }
      return cache.values(head, run, key);
    }

    void attend(int head, int tile, int part) {
      int rows = rowsOf(tile);
      int begin = Math.max(part * partKeys, rule.first(own(tile, 0)) / KEYS * KEYS);
      int end = Math.min(end(tile, rows - 1), (part + 1) * partKeys);
      long sums = parts > 1 ? partial(head, tile, part) : result;
      long state = sums + 4L * ROWS * sumWidth();
      begin(head, tile, rows, state);
      for (int key = begin; key < end; key += KEYS) {
        step(head, tile, rows, key, Math.min(KEYS, end - key), sums, state, key > begin);
      }
      if (parts == 1) {
        finish(head, tile, rows, sums, state);
      }
    }

    private void begin(int head, int tile, int rows, long state) {
      int dimension = cache.shape().dimension();
      for (int row = 0; row < rows; row++) {
        calls.add(
            code.tile(Product.F32),
            query(head, tile * ROWS + row, queries),
            query + 32L * row,
            dimension / MachineCache.CHUNK,
            dimension % MachineCache.CHUNK,
            0,
            0);
        long at = state + Softmax.HEADER + (long) row * Softmax.ROW;
        RawMemory.putFloat(at + Softmax.MAXIMUM, Softmax.LOWEST);
        RawMemory.putFloat(at + Softmax.SUM, 0);
      }
      RawMemory.putFloat(state, rule.scale());
    }

    private void step(
        int head, int tile, int rows, int key, int keys, long sums, long state, boolean more) {
      Function product = code.product(cache.product(), rows);
      long chunks = cache.keyValues() / MachineCache.CHUNK;
      int groups = (keys + MachineCache.GROUP - 1) / MachineCache.GROUP;
      for (int g = 0; g < groups; g++) {
        calls.add(
            product,
            keys(head, key / MachineCache.GROUP + g),
            query,
            scores + 4L * g * MachineCache.GROUP,
            4L * KEYS,
            chunks,
            0xFFFF_FFFFL);
      }
      if (rule.softCap() > 0) {
        cap(scores, rows, groups * MachineCache.GROUP);
      }
      if (key < rule.first(own(tile, rows - 1))) {
        calls.run();
        hideBeforeWindow(tile, rows, key, keys);
      }
      for (int row = 0; row < rows; row++) {
        long at = state + Softmax.HEADER + (long) row * Softmax.ROW;
        RawMemory.putInt(at + Softmax.VISIBLE, end(tile, row) - key);
      }
      calls.add(code.single(Single.SOFTMAX), scores, 4L * KEYS, weights, state, 2L * groups, rows);
      calls.run();
      if (more) {
        correct(rows, sums, state);
      }
      int valueChunks = (keys + MachineCache.CHUNK - 1) / MachineCache.CHUNK;
      for (int run = 0; run < cache.runs(); run++) {
        calls.add(
            product,
            values(head, run, key, valueChunks),
            weights,
            sums + 4L * run * MachineCache.GROUP,
            4L * sumWidth(),
            valueChunks,
            0xFFFF_FFFFL | (more ? 1L << 32 : 0));
      }
      calls.run();
    }

    /** Caps scores, which are yet to be scaled. */
    private void cap(long scores, int rows, int values) {
      float cap = rule.softCap() / rule.scale();
      for (int row = 0; row < rows; row++) {
        calls.add(
            code.single(Single.SOFT_CAP),
            scores + 4L * KEYS * row,
            values,
            Float.floatToRawIntBits(cap) & 0xFFFF_FFFFL,
            Float.floatToRawIntBits(-2 / cap) & 0xFFFF_FFFFL,
            0,
            0);
      }
    }

    /** Keys that have left a row's window get the lowest score. */
    private void hideBeforeWindow(int tile, int rows, int key, int keys) {
      for (int row = 0; row < rows; row++) {
        int hidden = Math.min(keys, rule.first(own(tile, row)) - key);
        if (hidden > 0) {
          RawMemory.putFloats(scores + 4L * KEYS * row, HIDDEN, hidden);
        }
      }
    }

    /** Scales earlier sums to the new maxima. */
    private void correct(int rows, long sums, long state) {
      for (int row = 0; row < rows; row++) {
        float correction =
            RawMemory.getFloat(
                state + Softmax.HEADER + (long) row * Softmax.ROW + Softmax.CORRECTION);
        if (correction != 1) {
          long at = sums + 4L * row * sumWidth();
          code.single(Single.SCALE)
              .call(at, at, sumWidth(), Float.floatToRawIntBits(correction) & 0xFFFF_FFFFL);
        }
      }
    }

    private void finish(int head, int tile, int rows, long sums, long state) {
      for (int row = 0; row < rows; row++) {
        write(
            Single.SCALE,
            head,
            tile * ROWS + row,
            sums + 4L * row * sumWidth(),
            (float) (1.0 / sum(state, row)));
      }
    }
  }

  private static float sum(long state, int row) {
    return RawMemory.getFloat(state + Softmax.HEADER + (long) row * Softmax.ROW + Softmax.SUM);
  }

  private static float maximum(long state, int row) {
    return RawMemory.getFloat(state + Softmax.HEADER + (long) row * Softmax.ROW + Softmax.MAXIMUM);
  }

  /** The address of a row's values in queries or output. */
  private long query(int head, int row, Rows rows) {
    int dimension = cache.shape().dimension();
    return rows.address(row / group) + 4L * (head * group + row % group) * dimension;
  }

  private void write(Single how, int head, int row, long sums, float factor) {
    code.single(how)
        .call(
            sums,
            query(head, row, out),
            cache.shape().dimension(),
            Float.floatToRawIntBits(factor) & 0xFFFF_FFFFL);
  }

  /** Puts the parts of every row together. */
  private void merge() {
    for (int head = 0; head < cache.shape().heads(); head++) {
      for (int row = 0; row < tokens * group; row++) {
        merge(head, row / ROWS, row % ROWS);
      }
    }
  }

  private void merge(int head, int tile, int row) {
    long stateAt = 4L * ROWS * sumWidth();
    float largest = Softmax.LOWEST;
    int first = rule.first(own(tile, row)) / partKeys;
    int last = (end(tile, row) - 1) / partKeys;
    for (int part = first; part <= last; part++) {
      largest = Math.max(largest, maximum(partial(head, tile, part) + stateAt, row));
    }
    double scale = rule.scale();
    double total = 0;
    for (int part = first; part <= last; part++) {
      long state = partial(head, tile, part) + stateAt;
      total += Math.exp(scale * (maximum(state, row) - largest)) * sum(state, row);
    }
    for (int part = first; part <= last; part++) {
      long result = partial(head, tile, part);
      double factor = Math.exp(scale * (maximum(result + stateAt, row) - largest)) / total;
      write(
          part == first ? Single.SCALE : Single.ADD_SCALED,
          head,
          tile * ROWS + row,
          result + 4L * row * sumWidth(),
          (float) factor);
    }
  }

  long scratchBytes() {
    long bytes = shared.bytes();
    if (tileAttention.isPresent()) {
      bytes += tileAttention.get().scratchBytes();
    }
    for (Item item : items) {
      bytes += item.scratch.bytes();
    }
    return bytes;
  }

  void close() {
    shared.close();
    tileAttention.ifPresent(TileAttention::close);
    for (Item item : items) {
      item.scratch.close();
    }
  }
}
