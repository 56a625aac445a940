package io.steelyard.kernels;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.List;

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
      Matrix matrix = kernels.prepare(List.of(RandomOperands.tensor(arena, type, rows, columns)));
      Rows x = RandomOperands.rows(arena, tokens, columns);
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
}
