package io.steelyard.kernels.attention;

import io.steelyard.kernels.attention.Branches.Branch;
import java.util.Arrays;

/** The positions that attend in a pattern, in order, as a list: what gathering goes by. */
final class DilatedPositions {
  private DilatedPositions() {}

  /** Those of a whole sequence. */
  static int[] of(int length, Branch branch, int offset, PatternCache cache) {
    return cache.get(
        new PatternCache.Key("dilated", length, branch.segment(), branch.rate(), offset),
        () -> make(length, branch, offset));
  }

  private static int[] make(int length, Branch branch, int offset) {
    int[] positions = new int[length];
    int count = 0;
    for (long begin = 0; begin < length; begin += branch.segment()) {
      long end = Math.min(begin + branch.segment(), length);
      for (long position = begin + offset; position < end; position += branch.rate()) {
        positions[count++] = (int) position;
      }
    }
    return Arrays.copyOf(positions, count);
  }

  /** Where the first of a range's positions stands in the list. */
  static int index(int[] positions, long from) {
    int at =
        from > Integer.MAX_VALUE ? positions.length : Arrays.binarySearch(positions, (int) from);
    return at < 0 ? -at - 1 : at;
  }
}
