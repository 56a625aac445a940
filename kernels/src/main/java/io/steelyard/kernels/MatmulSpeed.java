package io.steelyard.kernels;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.List;

/** How fast a tier multiplies a matrix of random weights. */
public final class MatmulSpeed {
  private static final int LEAST_CALLS = 5;

  private MatmulSpeed() {}

  /**
   * Measures.
   *
   * @param millis how long to go on; at least five calls are made, after one that is not timed
   * @param begin told when that is over
   * @return nanoseconds of each call that was timed, in order
   */
  public static long[] measure(
      Kernels kernels,
      DataType type,
      int rows,
      int columns,
      int tokens,
      int millis,
      Runnable begin) {
    try (Arena arena = Arena.ofShared()) {
      Matrix matrix =
          kernels.prepare(List.of(RandomOperands.tensor(arena, type, rows, columns)), arena);
      Rows x = RandomOperands.rows(arena, tokens, columns);
      Rows y = Rows.allocateApart(arena, tokens, rows);
      kernels.matmul(matrix, x, y, tokens);
      begin.run();
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
      return Arrays.copyOf(nanos, calls);
    }
  }
}
