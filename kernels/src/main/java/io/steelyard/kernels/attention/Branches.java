package io.steelyard.kernels.attention;

import io.steelyard.kernels.DataType;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Segments and rates of dilated attention: within a segment of so many positions, every rate-th
 * attends to the others of its kind.
 */
record Branches(List<Branch> branches) {
  private static final int MOST = 1 << 30;

  /** One segment length and rate. */
  record Branch(int segment, int rate) {
    /**
     * How many positions of a segment from a beginning on attend, of a sequence that ends there.
     */
    static int count(int begin, int end, int rate, int offset) {
      return Math.max(0, Math.ceilDiv(end - begin - offset, rate));
    }

    /**
     * Whether a position attends, where the first of each segment that does stands at an offset.
     */
    boolean takes(int position, int offset) {
      return position % segment % rate == offset;
    }

    /** Whether two positions attend to one another, but for causality. */
    boolean pairs(int query, int key, int offset) {
      return query / segment == key / segment && takes(query, offset) && takes(key, offset);
    }

    /** The most positions of a segment of a sequence that attend. */
    long kept(int length) {
      return Math.ceilDiv(Math.min(segment, length), rate);
    }
  }

  static Branches of(Parameters parameters) {
    int[] none = {};
    int[] segments = parameters.wholes("segments", none, 1, MOST);
    int[] rates = parameters.wholes("rates", none, 1, MOST);
    if (segments.length != rates.length) {
      throw new IllegalArgumentException(
          "%d segments and %d rates: there must be a rate for each segment"
              .formatted(segments.length, rates.length));
    }
    return new Branches(
        IntStream.range(0, segments.length)
            .mapToObj(i -> new Branch(segments[i], rates[i]))
            .toList());
  }

  /** Those that were asked for, or the usual ones of a length. */
  List<Branch> of(int length) {
    if (!branches.isEmpty()) {
      return branches;
    }
    if (length <= 8 << 10) {
      return usual(new int[] {1, 2, 4}, new int[] {1, 2, 4});
    } else if (length <= 64 << 10) {
      return usual(new int[] {2, 8, 32}, new int[] {1, 2, 4});
    } else if (length <= 512 << 10) {
      return usual(new int[] {8, 64, 256}, new int[] {1, 4, 16});
    }
    return usual(new int[] {64, 256, 512}, new int[] {1, 4, 16});
  }

  private static List<Branch> usual(int[] thousands, int[] rates) {
    return IntStream.range(0, rates.length)
        .mapToObj(i -> new Branch(thousands[i] << 10, rates[i]))
        .toList();
  }

  /** The branch of each head where each has one: the first get one head more. */
  int[] deal(int heads, int length) {
    int groups = of(length).size();
    int[] dealt = new int[heads];
    int head = 0;
    for (int i = 0; i < groups; i++) {
      int count = heads / groups + (i < heads % groups ? 1 : 0);
      Arrays.fill(dealt, head, head + count, i);
      head += count;
    }
    return dealt;
  }

  /** The scores of one head in a branch. */
  static double scores(Branch branch, AttentionShape shape) {
    double segment = Math.min(branch.segment(), shape.length());
    return shape.length() / segment * Estimate.among(segment / branch.rate(), shape.causal());
  }

  /** What dilated attention takes that copies nothing. */
  Estimate estimate(AttentionShape shape, int threads) {
    double scores = 0;
    long longest = 0;
    for (int index : deal(shape.heads(), shape.length())) {
      Branch branch = of(shape.length()).get(index);
      scores += scores(branch, shape);
      longest = Math.max(longest, branch.kept(shape.length()));
    }
    return new Estimate(
        scores * shape.batch(), Estimate.panels(longest, shape.dimension(), threads));
  }

  /** Bytes of the copies of what all heads of a sequence take, and of their results. */
  long gathered(AttentionShape shape, DataType type) {
    long bytes = 0;
    for (int index : deal(shape.heads(), shape.length())) {
      long rows = shape.length() / of(shape.length()).get(index).rate() + 1L;
      // Queries and results of each head, keys and values at most of each.
      bytes += 4 * Estimate.copies(rows, shape, type) + rows * (Float.BYTES + Integer.BYTES);
    }
    return bytes;
  }
}
