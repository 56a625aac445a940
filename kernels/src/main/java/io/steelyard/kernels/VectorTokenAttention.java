package io.steelyard.kernels;

import static io.steelyard.kernels.Lanes.COUNT;
import static io.steelyard.kernels.VectorCache.GROUP;

import jdk.incubator.vector.FloatVector;

/**
 * Attention of one token, or few: the cached positions are split into chunks of fixed size, each
 * chunk of each key-value head gives a partial softmax, and the partial results are merged in
 * order. The split depends on the positions alone, so the threads' number changes no bit.
 */
final class VectorTokenAttention {
  /** Positions in a chunk: a multiple of a group of keys. */
  private static final int CHUNK = 64;

  private final VectorCache cache;
  private final Rows queries;
  private final Rows out;
  private final int position;
  private final int tokens;
  private final AttentionRule rule;
  private final int heads;
  private final int group;
  private final int dimension;
  private final int chunks;
  private final long partial;
  private final long partialBytes;
  private final Scratch[] scratch;

  VectorTokenAttention(
      VectorCache cache,
      Rows queries,
      Rows out,
      int position,
      int tokens,
      AttentionRule rule,
      Scratch shared,
      Scratch[] scratch) {
    this.cache = cache;
    this.queries = queries;
    this.out = out;
    this.position = position;
    this.tokens = tokens;
    this.rule = rule;
    this.scratch = scratch;
    dimension = cache.shape().dimension();
    heads = cache.shape().heads();
    group = queries.width() / cache.shape().width();
    chunks = (position + tokens + CHUNK - 1) / CHUNK;
    // A head's partial result: maximum, total, and the weighted sum of values.
    partialBytes = 4L * (GROUP + cache.padded());
    partial = shared.atLeast((long) tokens * heads * group * chunks * partialBytes);
  }

  /** One thread's items; an item is one chunk of one key-value head for one token. */
  void run(int member, int members) {
    long keys =
        scratch[member].atLeast(4L * GROUP * (dimension + cache.padded()) + 4L * CHUNK * group);
    long values = keys + 4L * GROUP * dimension;
    long scores = values + 4L * GROUP * cache.padded();
    int items = tokens * heads * chunks;
    for (int item = member; item < items; item += members) {
      int chunk = item / (tokens * heads);
      int token = item % (tokens * heads) / heads;
      int head = item % heads;
      int visible = Math.min(CHUNK, end(token) - chunk * CHUNK);
      int hidden = Math.max(0, rule.first(position + token) - chunk * CHUNK);
      if (visible > hidden) {
        attend(token, head, chunk, hidden, visible, keys, values, scores);
      }
    }
  }

  /** The position after the last that a token sees. */
  private int end(int token) {
    return rule.end(position + token, position + tokens - 1);
  }

  private long partial(int token, int queryHead, int chunk) {
    return partial + ((long) (token * heads * group + queryHead) * chunks + chunk) * partialBytes;
  }

  /**
   * @param hidden keys of the chunk that come before those which are seen
   * @param visible keys of the chunk up to the last that is seen
   */
  private void attend(
      int token,
      int head,
      int chunk,
      int hidden,
      int visible,
      long keys,
      long values,
      long scores) {
    long query = queries.address(token) + 4L * head * group * dimension;
    for (int k = hidden / GROUP * GROUP; k < visible; k += GROUP) {
      cache.keys(head, (chunk * CHUNK + k) / GROUP, keys, 4L * GROUP);
      for (int h = 0; h < group; h++) {
        score(query + 4L * h * dimension, keys, dimension, rule, scores + 4L * (h * CHUNK + k));
      }
    }
    for (int h = 0; h < group; h++) {
      long result = partial(token, head * group + h, chunk);
      softmax(scores + 4L * h * CHUNK, hidden, visible, result);
      Lanes.ALL.asSlice(result + 4L * GROUP, 4L * cache.padded()).fill((byte) 0);
    }
    for (int k = hidden / GROUP * GROUP; k < visible; k += GROUP) {
      int count = Math.min(GROUP, visible - k);
      cache.values(head, chunk * CHUNK + k, count, values);
      for (int h = 0; h < group; h++) {
        long result = partial(token, head * group + h, chunk) + 4L * GROUP;
        weigh(scores + 4L * (h * CHUNK + k), count, values, cache.padded(), result);
      }
    }
  }

  /** Scores of one query head with one group of keys. */
  private static void score(long query, long keys, int dimension, AttentionRule rule, long scores) {
    for (int j = 0; j < GROUP; j += COUNT) {
      FloatVector even = Lanes.broadcastOf(0);
      FloatVector odd = Lanes.broadcastOf(0);
      long key = keys + 4L * j;
      int d = 0;
      for (; d + 2 <= dimension; d += 2) {
        even = Lanes.broadcast(query + 4L * d).fma(Lanes.load(key), even);
        odd = Lanes.broadcast(query + 4L * d + 4).fma(Lanes.load(key + 4L * GROUP), odd);
        key += 8L * GROUP;
      }
      if (d < dimension) {
        even = Lanes.broadcast(query + 4L * d).fma(Lanes.load(key), even);
      }
      Lanes.store(scores + 4L * j, VectorKernels.score(even.add(odd).mul(rule.scale()), rule));
    }
  }

  /** Scores become weights; their maximum and total begin the partial result. */
  private static void softmax(long scores, int hidden, int visible, long result) {
    float max = Lanes.scalar(scores + 4L * hidden);
    for (int k = hidden + 1; k < visible; k++) {
      max = Math.max(max, Lanes.scalar(scores + 4L * k));
    }
    int begin = hidden / GROUP * GROUP;
    for (int k = begin; k < visible; k += COUNT) {
      long at = scores + 4L * k;
      Lanes.store(at, Lanes.exp(Lanes.load(at).sub(max)));
    }
    for (int k = begin; k < hidden; k++) {
      Lanes.put(scores + 4L * k, 0);
    }
    float total = 0;
    for (int k = hidden; k < visible; k++) {
      total += Lanes.scalar(scores + 4L * k);
    }
    Lanes.put(result, max);
    Lanes.put(result + 4, total);
  }

  /** Adds weighted values of up to one group of positions. */
  private static void weigh(long weights, int count, long values, int padded, long sum) {
    for (int d = 0; d < padded; d += COUNT) {
      FloatVector total = Lanes.load(sum + 4L * d);
      for (int k = 0; k < count; k++) {
        FloatVector value = Lanes.load(values + 4L * (k * padded + d));
        total = Lanes.broadcast(weights + 4L * k).fma(value, total);
      }
      Lanes.store(sum + 4L * d, total);
    }
  }

  /** Merges the chunks' partial results; called when all items are done. */
  void merge() {
    for (int token = 0; token < tokens; token++) {
      int first = rule.first(position + token) / CHUNK;
      int used = (end(token) - 1) / CHUNK + 1 - first;
      for (int h = 0; h < heads * group; h++) {
        merge(partial(token, h, first), used, out.address(token) + 4L * h * dimension);
      }
    }
  }

  private void merge(long first, int used, long to) {
    float max = Lanes.scalar(first);
    for (int c = 1; c < used; c++) {
      max = Math.max(max, Lanes.scalar(first + c * partialBytes));
    }
    float total = 0;
    for (int c = 0; c < used; c++) {
      long part = first + c * partialBytes;
      float weight = (float) Math.exp(Lanes.scalar(part) - max);
      Lanes.put(part, weight);
      total += weight * Lanes.scalar(part + 4);
    }
    for (int d = 0; d < dimension; d++) {
      float sum = 0;
      for (int c = 0; c < used; c++) {
        long part = first + c * partialBytes;
        sum += Lanes.scalar(part) * Lanes.scalar(part + 4L * (GROUP + d));
      }
      Lanes.put(to + 4L * d, sum / total);
    }
  }
}
