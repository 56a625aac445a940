package io.steelyard.kernels;

import io.steelyard.kernels.avx2.Softmax;
import io.steelyard.kernels.machine.Function;
import io.steelyard.kernels.machine.MachineCode;
import io.steelyard.kernels.machine.MachineCode.Single;
import io.steelyard.kernels.machine.Product;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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

  private final List<Sequence> sequences = new ArrayList<>();

  // The call in progress: how many sequences, the first of their caches, which are alike, and what
  // else they share.
  private int count;
  private MachineCache first;
  private Rows queries;
  private Rows out;
  private AttentionRule rule;
  private int group;

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
    begin(cache, queries, out, rule);
    add(cache, 0, position, tokens);
    runAll();
  }

  /** Runs sequences of few tokens together: one of them alone has little for many threads. */
  void run(List<? extends CachedSpan> spans, Rows queries, Rows out, AttentionRule rule) {
    begin((MachineCache) spans.getFirst().keyValues(), queries, out, rule);
    int row = 0;
    for (int i = 0; i < spans.size(); i++) {
      CachedSpan span = spans.get(i);
      add((MachineCache) span.keyValues(), row, span.queriesFrom(), span.tokens());
      row += span.tokens();
    }
    runAll();
  }

  private void begin(MachineCache cache, Rows queries, Rows out, AttentionRule rule) {
    count = 0;
    first = cache;
    this.queries = queries;
    this.out = out;
    this.rule = rule;
    group = queries.width() / cache.shape().width();
  }

  private void add(MachineCache cache, int row, int position, int tokens) {
    if (count == sequences.size()) {
      sequences.add(new Sequence());
    }
    sequences.get(count++).set(cache, row, position, tokens);
  }

  private void runAll() {
    prepareCode();
    long bytes = 0;
    for (int i = 0; i < count; i++) {
      bytes += sequences.get(i).partialBytes();
    }
    long partials = bytes == 0 ? 0 : shared.atLeast(bytes);
    for (int i = 0; i < count; i++) {
      sequences.get(i).partials = partials;
      partials += sequences.get(i).partialBytes();
    }
    team.run(attend);
    for (int i = 0; i < count; i++) {
      sequences.get(i).merge();
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
    if (first.isBytes()) {
      code.single(Single.WIDEN_KEYS);
      code.single(Single.WIDEN_VALUES);
    }
    for (int i = 0; i < count; i++) {
      Sequence sequence = sequences.get(i);
      code.product(first.product(), sequence.rowsOf(0));
      code.product(first.product(), sequence.rowsOf(sequence.tiles - 1));
    }
  }

  private int sumWidth() {
    return first.runs() * MachineCache.GROUP;
  }

  private static long stateBytes() {
    return Softmax.HEADER + (long) ROWS * Softmax.ROW;
  }

  /** Bytes of a tile's sums and of its softmax's state. */
  private long resultBytes() {
    return (4L * ROWS * sumWidth() + stateBytes() + 63) / 64 * 64;
  }

  private void attend(int member, int members) {
    Item item = items[member];
    item.prepare(calls.of(member));
    // Later tiles see more keys, so they are dealt like cards, on from one sequence to the next.
    int at = member;
    for (int i = 0; i < count; i++) {
      Sequence sequence = sequences.get(i);
      int heads = sequence.cache.shape().heads();
      int inPart = sequence.tiles * heads;
      int all = inPart * sequence.parts;
      for (; at < all; at += members) {
        item.attend(sequence, at % inPart % heads, at % inPart / heads, at / inPart);
      }
      at -= all;
    }
  }

  /** What is computed of one cache, and how it is cut. */
  private final class Sequence {
    private MachineCache cache;
    private int row;
    private int position;
    private int tokens;
    private int tiles;
    private int parts;
    private int partKeys;
    private long partials;

    void set(MachineCache cache, int row, int position, int tokens) {
      this.cache = cache;
      this.row = row;
      this.position = position;
      this.tokens = tokens;
      tiles = (tokens * group + ROWS - 1) / ROWS;
      int all = position + tokens;
      partKeys = tokens <= few ? SPLIT : MachineCache.roundUp(all, KEYS);
      parts = (all + partKeys - 1) / partKeys;
    }

    int rowsOf(int tile) {
      return Math.min(ROWS, tokens * group - tile * ROWS);
    }

    /** The position of a row's query. */
    int own(int tile, int row) {
      return position + (tile * ROWS + row) / group;
    }

    /** The position after the last that a row sees. */
    int end(int tile, int row) {
      return rule.end(own(tile, row), position + tokens - 1);
    }

    long partialBytes() {
      return parts == 1 ? 0 : (long) parts * tiles * cache.shape().heads() * resultBytes();
    }

    long partial(int head, int tile, int part) {
      long index = ((long) part * tiles + tile) * cache.shape().heads() + head;
      return partials + index * resultBytes();
    }

    /** The address of a row's values in queries or output. */
    long place(int head, int tile, int row, Rows rows) {
      int at = tile * ROWS + row;
      int dimension = cache.shape().dimension();
      return rows.address(this.row + at / group) + 4L * (head * group + at % group) * dimension;
    }

    void write(Single how, int head, int tile, int row, long sums, float factor) {
      code.single(how)
          .call(
              sums + 4L * row * sumWidth(),
              place(head, tile, row, out),
              cache.shape().dimension(),
              Float.floatToRawIntBits(factor) & 0xFFFF_FFFFL);
    }

    /** Puts the parts of every row together, where there are several. */
    void merge() {
      for (int head = 0; parts > 1 && head < cache.shape().heads(); head++) {
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
        Single how = part == first ? Single.SCALE : Single.ADD_SCALED;
        write(how, head, tile, row, result, (float) factor);
      }
    }
  }

  /** The work of one thread on one tile. */
  private final class Item {
    private CallList calls;
    private Sequence sequence;
    private final Scratch scratch = new Scratch();
    private long query;
    private long scores;
    private long weights;
    private long result;
    private long widened;

    void prepare(CallList list) {
      calls = list;
      long queryBytes = (long) first.keyValues() / MachineCache.CHUNK * Product.F32.tileChunk();
      long scoreBytes = 4L * ROWS * KEYS;
      long weightBytes = (long) KEYS / MachineCache.CHUNK * Product.F32.tileChunk();
      query =
          scratch.atLeast(
              queryBytes + scoreBytes + weightBytes + resultBytes() + first.widenedBytes(KEYS));
      scores = query + queryBytes;
      weights = scores + scoreBytes;
      result = weights + weightBytes;
      widened = result + resultBytes();
    }

    private long keys(int head, int group) {
      MachineCache cache = sequence.cache;
      if (cache.isBytes()) {
        // The call that reads what was widened before.
        calls.run();
        cache.widenKeys(code, head, group, widened);
        return widened;
      }
      return cache.keys(head, group);
    }

    private long values(int head, int run, int key, int chunks) {
      MachineCache cache = sequence.cache;
      if (cache.isBytes()) {
        calls.run();
        cache.widenValues(code, head, run, key, chunks * MachineCache.CHUNK, widened);
        return widened;
      }
      return cache.values(head, run, key);
    }

    void attend(Sequence sequence, int head, int tile, int part) {
      this.sequence = sequence;
      int rows = sequence.rowsOf(tile);
      int partKeys = sequence.partKeys;
      int begin = Math.max(part * partKeys, rule.first(sequence.own(tile, 0)) / KEYS * KEYS);
      int end = Math.min(sequence.end(tile, rows - 1), (part + 1) * partKeys);
      long sums = sequence.parts > 1 ? sequence.partial(head, tile, part) : result;
      long state = sums + 4L * ROWS * sumWidth();
      begin(head, tile, rows, state);
      for (int key = begin; key < end; key += KEYS) {
        step(head, tile, rows, key, Math.min(KEYS, end - key), sums, state, key > begin);
      }
      if (sequence.parts == 1) {
        finish(head, tile, rows, sums, state);
      }
    }

    private void begin(int head, int tile, int rows, long state) {
      int dimension = first.shape().dimension();
      for (int row = 0; row < rows; row++) {
        calls.add(
            code.tile(Product.F32),
            sequence.place(head, tile, row, queries),
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
      Function product = code.product(first.product(), rows);
      long chunks = first.keyValues() / MachineCache.CHUNK;
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
      if (key < rule.first(sequence.own(tile, rows - 1))) {
        calls.run();
        hideBeforeWindow(tile, rows, key, keys);
      }
      for (int row = 0; row < rows; row++) {
        long at = state + Softmax.HEADER + (long) row * Softmax.ROW;
        RawMemory.putInt(at + Softmax.VISIBLE, sequence.end(tile, row) - key);
      }
      calls.add(code.single(Single.SOFTMAX), scores, 4L * KEYS, weights, state, 2L * groups, rows);
      calls.run();
      if (more) {
        correct(rows, sums, state);
      }
      int valueChunks = (keys + MachineCache.CHUNK - 1) / MachineCache.CHUNK;
      for (int run = 0; run < first.runs(); run++) {
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
        int hidden = Math.min(keys, rule.first(sequence.own(tile, row)) - key);
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
        float factor = (float) (1.0 / sum(state, row));
        sequence.write(Single.SCALE, head, tile, row, sums, factor);
      }
    }
  }

  private static float sum(long state, int row) {
    return RawMemory.getFloat(state + Softmax.HEADER + (long) row * Softmax.ROW + Softmax.SUM);
  }

  private static float maximum(long state, int row) {
    return RawMemory.getFloat(state + Softmax.HEADER + (long) row * Softmax.ROW + Softmax.MAXIMUM);
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
