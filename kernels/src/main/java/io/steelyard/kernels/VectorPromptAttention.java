package io.steelyard.kernels;

import static io.steelyard.kernels.Lanes.BYTES;
import static io.steelyard.kernels.Lanes.COUNT;
import static io.steelyard.kernels.VectorTile.ROW_BYTES;
import static io.steelyard.kernels.VectorTile.WIDTH;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;

/**
 * Attention of many tokens: tiled, with the online softmax of FlashAttention (Dao et al., 2022).
 *
 * <p>Lanes are queries: the heads that share a key-value head, of consecutive tokens. Scores and
 * weighted values are both products for {@link VectorTile}; the softmax runs down the lanes and
 * never across them. Keys and values are decoded once for {@link #TILES} panels of queries.
 */
final class VectorPromptAttention {
  /** Keys taken at a time: a multiple of a tile's rows and of a group of keys. */
  private static final int KEYS = 48;

  /** Panels of queries that share a decoded tile of keys. */
  private static final int TILES = 4;

  private static final float LOWEST = -Float.MAX_VALUE;

  private final VectorCache cache;
  private final Rows queries;
  private final Rows out;
  private final int position;
  private final int tokens;
  private final AttentionRule rule;
  private final int dimension;
  private final int group;
  private final int blocks;
  private final Scratch[] scratch;

  VectorPromptAttention(
      VectorCache cache,
      Rows queries,
      Rows out,
      int position,
      int tokens,
      AttentionRule rule,
      Scratch[] scratch) {
    this.cache = cache;
    this.queries = queries;
    this.out = out;
    this.position = position;
    this.tokens = tokens;
    this.rule = rule;
    this.scratch = scratch;
    dimension = cache.shape().dimension();
    group = queries.width() / cache.shape().width();
    blocks = (tokens * group + TILES * WIDTH - 1) / (TILES * WIDTH);
  }

  /** One thread's items; an item is one key-value head with one block of query lanes. */
  void run(int member, int members) {
    Item item = new Item(scratch[member]);
    int heads = cache.shape().heads();
    // Later blocks see more keys, so they are dealt like cards.
    for (int i = member; i < blocks * heads; i += members) {
      item.attend(i % heads, i / heads);
    }
  }

  private final class Item {
    private final long query;
    private final long laneFirst;
    private final long laneLast;
    private final long keys;
    private final long values;
    private final long scores;
    private final long maxima;
    private final long totals;
    private final long sums;
    private final int sumRows = VectorTile.roundUpRows(dimension);

    Item(Scratch scratch) {
      long queryBytes = (long) TILES * dimension * ROW_BYTES;
      long stateBytes = (long) TILES * ROW_BYTES;
      long keyBytes = 4L * dimension * KEYS;
      // A tile's last rows may reach past the last value.
      long valueBytes = 4L * (KEYS * cache.padded() + VectorCache.GROUP);
      long scoreBytes = (long) KEYS * ROW_BYTES;
      long sumBytes = (long) TILES * sumRows * ROW_BYTES;
      query =
          scratch.atLeast(
              queryBytes + 4 * stateBytes + keyBytes + valueBytes + scoreBytes + sumBytes);
      laneFirst = query + queryBytes;
      laneLast = laneFirst + stateBytes;
      maxima = laneLast + stateBytes;
      totals = maxima + stateBytes;
      keys = totals + stateBytes;
      values = keys + keyBytes;
      scores = values + valueBytes;
      sums = scores + scoreBytes;
    }

    void attend(int head, int block) {
      int firstLane = block * TILES * WIDTH;
      int lanes = Math.min(TILES * WIDTH, tokens * group - firstLane);
      int tiles = (lanes + WIDTH - 1) / WIDTH;
      begin(head, firstLane, lanes, tiles);
      int end = end(firstLane + lanes - 1);
      for (int key = first(firstLane) / KEYS * KEYS; key < end; key += KEYS) {
        int count = Math.min(KEYS, end - key);
        decode(head, key, count);
        for (int tile = 0; tile < tiles; tile++) {
          int firstOfTile = firstLane + tile * WIDTH;
          int lastOfTile = firstLane + Math.min(lanes, (tile + 1) * WIDTH) - 1;
          int visible = end(lastOfTile) - key;
          if (visible > 0 && key + count > first(firstOfTile)) {
            boolean all = key + count <= end(firstOfTile) && key >= first(lastOfTile);
            step(tile, key, Math.min(count, visible), !all);
          }
        }
      }
      finish(head, firstLane, lanes);
    }

    /** Gathers the queries, scaled, and clears the state. */
    private void begin(int head, int firstLane, int lanes, int tiles) {
      for (int lane = 0; lane < tiles * WIDTH; lane++) {
        int index = firstLane + Math.min(lane, lanes - 1);
        int token = index / group;
        long from = queries.address(token) + 4L * (head * group + index % group) * dimension;
        int tile = lane / WIDTH;
        long to = query + (long) tile * dimension * ROW_BYTES + 4L * (lane % WIDTH);
        for (int d = 0; d < dimension; d++) {
          Lanes.put(to + (long) d * ROW_BYTES, Lanes.scalar(from + 4L * d) * rule.scale());
        }
        // Exact up to 2^24 positions.
        Lanes.put(laneFirst + 4L * lane, first(index));
        Lanes.put(laneLast + 4L * lane, end(index) - 1);
        Lanes.put(maxima + 4L * lane, LOWEST);
        Lanes.put(totals + 4L * lane, 0);
      }
      Lanes.ALL.asSlice(sums, (long) tiles * sumRows * ROW_BYTES).fill((byte) 0);
    }

    private void decode(int head, int key, int count) {
      for (int g = 0; g * VectorCache.GROUP < count; g++) {
        int from = key / VectorCache.GROUP + g;
        cache.keys(head, from, keys + 4L * g * VectorCache.GROUP, 4L * KEYS);
      }
      cache.values(head, key, count, values);
    }

    /** One tile of queries meets one tile of keys. */
    private void step(int tile, int key, int count, boolean masked) {
      Lanes.ALL.asSlice(scores, (long) KEYS * ROW_BYTES).fill((byte) 0);
      long panel = query + (long) tile * dimension * ROW_BYTES;
      for (int k = 0; k < count; k += VectorTile.ROWS) {
        VectorTile.multiply(
            keys + 4L * k,
            4,
            4L * KEYS,
            dimension,
            panel,
            scores + (long) k * ROW_BYTES,
            ROW_BYTES);
      }
      long sum = sums + (long) tile * sumRows * ROW_BYTES;
      for (int half = 0; half < ROW_BYTES; half += BYTES) {
        long state = (long) tile * ROW_BYTES + half;
        if (rule.softCap() > 0) {
          cap(scores + half, count, rule);
        }
        if (masked) {
          mask(scores + half, laneFirst + state, laneLast + state, key, count);
        }
        softmax(scores + half, maxima + state, totals + state, sum + half, count, dimension);
      }
      for (int d = 0; d < dimension; d += VectorTile.ROWS) {
        VectorTile.multiply(
            values + 4L * d,
            4,
            4L * cache.padded(),
            count,
            scores,
            sum + (long) d * ROW_BYTES,
            ROW_BYTES);
      }
    }

    private void finish(int head, int firstLane, int lanes) {
      for (int lane = 0; lane < lanes; lane++) {
        int index = firstLane + lane;
        long to = out.address(index / group) + 4L * (head * group + index % group) * dimension;
        long from = sums + (long) (lane / WIDTH) * sumRows * ROW_BYTES + 4L * (lane % WIDTH);
        float inverse = 1 / Lanes.scalar(totals + 4L * lane);
        for (int d = 0; d < dimension; d++) {
          Lanes.put(to + 4L * d, Lanes.scalar(from + (long) d * ROW_BYTES) * inverse);
        }
      }
    }
  }

  /** The first position that a lane sees. */
  private int first(int lane) {
    return rule.first(position + lane / group);
  }

  /** The position after the last that a lane sees. */
  private int end(int lane) {
    return rule.end(position + lane / group, position + tokens - 1);
  }

  private static void cap(long scores, int count, AttentionRule rule) {
    for (int k = 0; k < count; k++) {
      long at = scores + (long) k * ROW_BYTES;
      Lanes.store(at, VectorKernels.score(Lanes.load(at), rule));
    }
  }

  /** Lowers the scores of keys that a lane doesn't see. */
  private static void mask(long scores, long laneFirst, long laneLast, int key, int count) {
    FloatVector first = Lanes.load(laneFirst);
    FloatVector last = Lanes.load(laneLast);
    for (int k = 0; k < count; k++) {
      long at = scores + (long) k * ROW_BYTES;
      VectorMask<Float> hidden =
          last.compare(VectorOperators.LT, (float) (key + k))
              .or(first.compare(VectorOperators.GT, (float) (key + k)));
      Lanes.store(at, Lanes.load(at).blend(LOWEST, hidden));
    }
  }

  /** Scores become weights; what was summed before is scaled to the new maximum. */
  private static void softmax(
      long scores, long maxima, long totals, long sum, int count, int dimension) {
    FloatVector before = Lanes.load(maxima);
    FloatVector max = before;
    for (int k = 0; k < count; k++) {
      max = max.max(Lanes.load(scores + (long) k * ROW_BYTES));
    }
    FloatVector correction = Lanes.exp(before.sub(max));
    FloatVector total = Lanes.load(totals).mul(correction);
    for (int k = 0; k < count; k++) {
      long at = scores + (long) k * ROW_BYTES;
      FloatVector weight = Lanes.exp(Lanes.load(at).sub(max));
      total = total.add(weight);
      Lanes.store(at, weight);
    }
    Lanes.store(maxima, max);
    Lanes.store(totals, total);
    for (int d = 0; d < dimension; d++) {
      long at = sum + (long) d * ROW_BYTES;
      Lanes.store(at, Lanes.load(at).mul(correction));
    }
  }

  static {
    if (KEYS % VectorTile.ROWS != 0 || KEYS % VectorCache.GROUP != 0 || WIDTH != 2 * COUNT) {
      throw new AssertionError("the tiles of attention don't fit together");
    }
  }
}
