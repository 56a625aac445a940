package io.steelyard.kernels;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * How fast a tier multiplies a matrix of random weights.
 *
 * @param nanos of each call that was timed, in order
 * @param products multiplications of a call
 * @param bytes of weights that a call reads
 */
public record MatmulSpeed(long[] nanos, long products, long bytes) {
  private static final int LEAST_CALLS = 5;

  /**
   * Measures.
   *
   * @param millis how long to go on; at least five calls are made, after one that is not timed
   */
  public static MatmulSpeed measure(
      Kernels kernels, DataType type, int rows, int columns, int tokens, int millis) {
    try (Arena arena = Arena.ofShared()) {
      Matrix matrix = kernels.prepare(List.of(random(arena, type, rows, columns)));
      Rows x = Rows.allocate(arena, tokens, columns);
      SplittableRandom random = new SplittableRandom(1);
      for (int token = 0; token < tokens; token++) {
        for (int i = 0; i < columns; i++) {
          x.set(token, i, (float) random.nextDouble(-1, 1));
        }
      }
      Rows y = Rows.allocate(arena, tokens, rows);
      kernels.matmul(matrix, x, y, tokens);
      long[] nanos = new long[LEAST_CALLS];
      int calls = 0;
      long end = System.nanoTime() + millis * 1_000_000L;
      while (calls < LEAST_CALLS || System.nanoTime() < end) {
        if (calls == nanos.length) {
          nanos = Arrays.copyOf(nanos, 2 * calls);
        }
        long start = System.nanoTime();
        kernels.matmul(matrix, x, y, tokens);
        nanos[calls++] = System.nanoTime() - start;
      }
      return new MatmulSpeed(
          Arrays.copyOf(nanos, calls), (long) rows * columns * tokens, type.bytes(columns) * rows);
    }
  }

  /** Random bytes, with scales that keep values finite. */
  private static Tensor random(Arena arena, DataType type, int rows, int columns) {
    MemorySegment data = arena.allocate(type.bytes(columns) * rows, Rows.ALIGNMENT);
    SplittableRandom random = new SplittableRandom(2);
    for (long at = 0; at + 8 <= data.byteSize(); at += 8) {
      // No exponent of all ones in any 16 bits: nothing infinite, whatever they are read as.
      data.set(ValueLayout.JAVA_LONG, at, random.nextLong() & 0xBBFF_BBFF_BBFF_BBFFL);
    }
    return new Tensor("random", type, columns, rows, data);
  }
}
