package io.steelyard.kernels.attention;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Rows;
import io.steelyard.kernels.attention.Ring.Chunk;
import io.steelyard.kernels.machine.SystemMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Which positions of a problem each rank of a ring holds: one chunk, or, in zigzag, the chunks r
 * and {@code 2R - 1 - r} of 2R. A rank's rows lie together, those of its earlier chunk first.
 */
public record RingShards(AttentionShape shape, int ranks, boolean zigzag) {
  public RingShards {
    if (ranks < 1 || ranks > Ring.MOST_RANKS) {
      throw new IllegalArgumentException(
          "%d ranks: give a number from 1 to %d".formatted(ranks, Ring.MOST_RANKS));
    }
    int chunks = zigzag ? 2 * ranks : ranks;
    if (shape.length() < chunks) {
      throw new IllegalArgumentException(
          "a length of %d can't be split into %d chunks for %d ranks"
              .formatted(shape.length(), chunks, ranks));
    }
  }

  List<Chunk> chunks(int rank) {
    return Ring.chunks(rank, ranks, shape.length(), zigzag);
  }

  /** What a rank's own positions are alone. */
  public AttentionShape shape(int rank) {
    int length = chunks(rank).stream().mapToInt(Chunk::count).sum();
    return new AttentionShape(
        shape.batch(), length, shape.heads(), shape.kvHeads(), shape.dimension(), shape.causal());
  }

  /** Whose keys and values a rank holds in a step. */
  public int source(int rank, int step) {
    return Math.floorMod(rank - step, ranks);
  }

  /** What a rank holds, its keys and values in a block one after the other. */
  AttentionInputs inputs(Arena arena, DataType type, int rank, long seed, MemorySegment block) {
    AttentionShape own = shape(rank);
    long half = block.byteSize() / 2;
    AttentionInputs inputs =
        new AttentionInputs(
            own,
            type,
            SystemMemory.zeros(arena, type.bytes(own.queryValues()), Rows.ALIGNMENT),
            block.asSlice(0, half),
            block.asSlice(half));
    RandomInputs.fill(inputs, chunks(rank), seed);
    return inputs;
  }

  /** Puts a rank's results where they belong. */
  public void collect(int rank, AttentionOutputs part, AttentionOutputs whole) {
    int row = 0;
    for (Chunk chunk : chunks(rank)) {
      for (int batch = 0; batch < shape.batch(); batch++) {
        long rowBytes = part.type().bytes((long) shape.heads() * shape.dimension());
        MemorySegment.copy(
            part.out(),
            ((long) batch * part.shape().length() + row) * rowBytes,
            whole.out(),
            ((long) batch * shape.length() + chunk.from()) * rowBytes,
            chunk.count() * rowBytes);
        for (int head = 0; head < shape.heads(); head++) {
          long sums = (long) batch * shape.heads() + head;
          MemorySegment.copy(
              part.logSums(),
              (sums * part.shape().length() + row) * Float.BYTES,
              whole.logSums(),
              (sums * shape.length() + chunk.from()) * Float.BYTES,
              (long) chunk.count() * Float.BYTES);
        }
      }
      row += chunk.count();
    }
  }

  /** What queries of a chunk see of all of a rank's keys: always a beginning of them. */
  Sight sight(Chunk queries, List<Chunk> keys) {
    int all = keys.stream().mapToInt(Chunk::count).sum();
    if (!shape.causal()) {
      return Sight.all(all);
    }
    return Sight.before(query -> seen(queries.from() + query, keys));
  }

  /** How many keys of some chunks are not behind a position. */
  private static int seen(int position, List<Chunk> keys) {
    int seen = 0;
    for (Chunk chunk : keys) {
      seen += Math.clamp(position + 1L - chunk.from(), 0, chunk.count());
    }
    return seen;
  }
}
