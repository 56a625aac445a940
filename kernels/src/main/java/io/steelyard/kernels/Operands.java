package io.steelyard.kernels;

import java.util.List;

/** The checks of operands that all tiers share. */
final class Operands {
  private Operands() {}

  static void matmul(Matrix weights, Rows x, Rows y, int tokens) {
    x.require("the multiplicand", weights.columns(), tokens);
    y.require("the product", weights.rows(), tokens);
  }

  static void embed(Matrix table, int[] ids, int from, int tokens, Rows out) {
    out.require("the embedding", table.columns(), tokens);
    for (int i = from; i < from + tokens; i++) {
      if (ids[i] < 0 || ids[i] >= table.rows()) {
        throw new IllegalArgumentException(
            "token id " + ids[i] + " is not in the vocabulary of " + table.rows());
      }
    }
  }

  static void rmsNorm(Rows x, Rows weight, Rows y, int tokens) {
    if (x.width() % weight.width() != 0) {
      throw new IllegalArgumentException(
          "rows of " + x.width() + " values are no vectors of " + weight.width());
    }
    norm(x, weight, y, tokens);
  }

  static void layerNorm(Rows x, Rows weight, Rows y, int tokens) {
    x.require("the norm's input", weight.width(), tokens);
    norm(x, weight, y, tokens);
  }

  private static void norm(Rows x, Rows weight, Rows y, int tokens) {
    x.require("the norm's input", x.width(), tokens);
    weight.require("the norm's weight", weight.width(), 1);
    y.require("the norm's output", x.width(), tokens);
  }

  static void rope(Rope rope, Rows angles, Rows x, int headDimension, int tokens) {
    if (headDimension < rope.dimensions() || x.width() % headDimension != 0) {
      throw new IllegalArgumentException(
          "rope over "
              + rope.dimensions()
              + " values of heads of "
              + headDimension
              + " can't turn rows of "
              + x.width());
    }
    angles.require("rope angles", rope.dimensions(), tokens);
    x.require("what rope turns", x.width(), tokens);
  }

  static void store(KeyValues cache, Rows keys, Rows values, int position, int tokens) {
    positions(cache, position, tokens);
    keys.require("keys", cache.shape().width(), tokens);
    values.require("values", cache.shape().width(), tokens);
  }

  static void attention(Rows queries, KeyValues cache, int position, Rows out, int tokens) {
    positions(cache, position, tokens);
    if (queries.width() % cache.shape().width() != 0) {
      throw new IllegalArgumentException(
          "queries of "
              + queries.width()
              + " values can't share "
              + cache.shape().heads()
              + " key-value heads of "
              + cache.shape().dimension());
    }
    queries.require("queries", queries.width(), tokens);
    out.require("attention's output", queries.width(), tokens);
  }

  /** Sequences that are processed together. */
  static void spans(List<? extends CachedSpan> spans) {
    if (spans.isEmpty()) {
      throw new IllegalArgumentException("no sequence where at least 1 is needed");
    }
    for (int i = 0; i < spans.size(); i++) {
      int tokens = spans.get(i).tokens();
      if (tokens < 1) {
        throw new IllegalArgumentException(
            "sequence " + i + " has " + tokens + " tokens where at least 1 is needed");
      }
    }
  }

  static void rows(Rows x, int tokens) {
    x.require("the operand", x.width(), tokens);
  }

  static void bias(Rows x, Rows bias, int tokens) {
    rows(x, tokens);
    bias.require("the bias", x.width(), 1);
  }

  static void elementwise(Rows first, Rows second, Rows third, int tokens) {
    first.require("the first operand", first.width(), tokens);
    second.require("the second operand", first.width(), tokens);
    third.require("the output", first.width(), tokens);
  }

  private static void positions(KeyValues cache, int position, int tokens) {
    int capacity = cache.shape().capacity();
    if (position < 0 || tokens < 0 || (long) position + tokens > capacity) {
      throw new IllegalArgumentException(
          "positions "
              + position
              + " to "
              + ((long) position + tokens)
              + " don't fit a KV cache of "
              + capacity);
    }
  }
}
