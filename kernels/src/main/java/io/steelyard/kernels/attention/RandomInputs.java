package io.steelyard.kernels.attention;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.StridedRows;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** Seeded inputs of variance 1, evenly distributed. */
public final class RandomInputs {
  /** The half-width of an even distribution of variance 1. */
  private static final float HALF = (float) Math.sqrt(3);

  private RandomInputs() {}

  /** Makes inputs, the same for a shape, type and seed. */
  public static AttentionInputs of(Arena arena, AttentionShape shape, DataType type, long seed) {
    AttentionInputs inputs = AttentionInputs.allocate(arena, shape, type);
    fill(inputs, List.of(new Ring.Chunk(0, shape.length())), seed);
    return inputs;
  }

  /** Fills inputs of some positions alone with what they are among all. */
  static void fill(AttentionInputs inputs, List<Ring.Chunk> positions, long seed) {
    AttentionShape shape = inputs.shape();
    IntStream.range(0, shape.batch() * shape.heads())
        .parallel()
        .forEach(
            i -> {
              int batch = i / shape.heads();
              int head = i % shape.heads();
              fill(inputs.queries(batch, head), shape, positions, seed * 3 + (long) i * 7919);
              if (head < shape.kvHeads()) {
                fill(inputs.keys(batch, head), shape, positions, seed * 5 + (long) i * 7919 + 1);
                fill(inputs.values(batch, head), shape, positions, seed * 7 + (long) i * 7919 + 2);
              }
            });
  }

  private static void fill(
      StridedRows rows, AttentionShape shape, List<Ring.Chunk> positions, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    float[] row = new float[shape.dimension()];
    int at = 0;
    int position = 0;
    for (Ring.Chunk chunk : positions) {
      for (; position < chunk.to(); position++) {
        for (int d = 0; d < row.length; d++) {
          row[d] = HALF * (2 * (random.nextInt() >>> 8) * 0x1p-24f - 1);
        }
        if (position >= chunk.from()) {
          rows.put(at++, row);
        }
      }
    }
  }
}
