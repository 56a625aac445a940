package io.steelyard.kernels.attention;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Holds what queries see to definitions that are written once more, pair by pair: a plan may take
 * {@link Plan#times} from the very mask by which it computes, and then the oracle doesn't notice
 * that the mask is another than its name says.
 */
final class Definitions {
  /** Where a definition leaves a choice, as between two blocks that are equally near. */
  static final int OPEN = -1;

  static final int DIMENSION = 8;

  private static final long SEED = 3;

  private static final List<AttentionShape> SHAPES =
      Stream.of(true, false)
          .flatMap(
              causal ->
                  Stream.of(
                      new AttentionShape(1, 1, 1, 1, DIMENSION, causal),
                      new AttentionShape(2, 7, 5, 1, DIMENSION, causal),
                      new AttentionShape(1, 300, 8, 2, DIMENSION, causal),
                      new AttentionShape(1, 1025, 3, 1, DIMENSION, causal)))
          .toList();

  private Definitions() {}

  /** How often a key stands in a query's softmax, but for causality. */
  @FunctionalInterface
  interface Times {
    int of(int batch, int head, int query, int key);
  }

  @FunctionalInterface
  interface Definition {
    Times of(AttentionInputs inputs);
  }

  /** Shows inputs of every shape. */
  static void onInputs(Consumer<AttentionInputs> test) {
    for (AttentionShape shape : SHAPES) {
      try (Arena arena = Arena.ofShared()) {
        test.accept(RandomInputs.of(arena, shape, DataType.F32, SEED));
      }
    }
  }

  /** Makes patterns anew every time. */
  static Workbench workbench() {
    return new Workbench(Kernels.best(), 1, MemoryPool.pooled(), new PatternCache(0));
  }

  /** Compares all pairs of all shapes. */
  static void check(String spelling, Definition definition) {
    onInputs(
        inputs -> {
          Times times = definition.of(inputs);
          try (Workbench workbench = workbench();
              Plan plan = Variants.of(spelling).plan(inputs, workbench)) {
            for (int batch = 0; batch < inputs.shape().batch(); batch++) {
              for (int head = 0; head < inputs.shape().heads(); head++) {
                check(spelling, inputs.shape(), plan, times, batch, head);
              }
            }
          }
        });
  }

  private static void check(
      String spelling, AttentionShape shape, Plan plan, Times definition, int batch, int head) {
    for (int query = 0; query < shape.length(); query++) {
      for (int key = 0; key < shape.length(); key++) {
        boolean ahead = shape.causal() && key > query;
        int expected = ahead ? 0 : definition.of(batch, head, query, key);
        int times = plan.times(batch, head, query, key);
        if (expected != OPEN && times != expected) {
          assertThat(times)
              .as(
                  "%s in %s: sequence %d, head %d, query %d, key %d",
                  spelling, shape, batch, head, query, key)
              .isEqualTo(expected);
        }
      }
    }
  }

  /** What a head of the first sequence sees: [query][key]. */
  static boolean[][] seen(String spelling, AttentionInputs inputs, int head) {
    int length = inputs.shape().length();
    boolean[][] seen = new boolean[length][length];
    try (Workbench workbench = workbench();
        Plan plan = Variants.of(spelling).plan(inputs, workbench)) {
      for (int query = 0; query < length; query++) {
        for (int key = 0; key < length; key++) {
          seen[query][key] = plan.times(0, head, query, key) > 0;
        }
      }
    }
    return seen;
  }

  /** The same by blocks, each of which must be seen as a whole, but for what lies ahead. */
  static boolean[][] byBlocks(boolean[][] seen, boolean causal, int block) {
    int count = blocks(seen.length, block);
    boolean[][] blocks = new boolean[count][count];
    for (int query = 0; query < seen.length; query++) {
      boolean[] row = blocks[query / block];
      for (int key = 0; key < seen.length; key++) {
        boolean ahead = causal && key > query;
        if (query % block == 0 && key % block == 0) {
          row[key / block] = seen[query][key];
        }
        if (seen[query][key] != (row[key / block] && !ahead)) {
          assertThat(seen[query][key])
              .as("query %d, key %d, as others of blocks of %d", query, key, block)
              .isEqualTo(row[key / block] && !ahead);
        }
      }
    }
    return blocks;
  }

  /** How many blocks a sequence has. */
  static int blocks(int length, int block) {
    return (length + block - 1) / block;
  }

  /** How many of so many a share keeps: at least one. */
  static int kept(double share, int of) {
    return (int) Math.max(1, Math.round(share * of));
  }
}
