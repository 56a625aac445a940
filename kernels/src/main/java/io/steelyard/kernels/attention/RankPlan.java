package io.steelyard.kernels.attention;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.attention.Branches.Branch;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * What a rank takes of a forward pass whose length is split evenly over ranks, each with all heads
 * of a run of positions. It is counted and never run, so that lengths can be asked about that no
 * machine here holds.
 *
 * @param scores of all ranks together, about
 * @param inputBytes of a rank's queries, keys and values
 * @param outputBytes of its results and sums
 * @param scratchBytes at most about so much beside these: panels, copies, merges, and keys and
 *     values on their way
 * @param sentBytes at most so many that it sends to others
 * @param travels what is sent
 * @param bound whether the scores are those of dense attention because it isn't known beforehand
 *     what is left out
 */
public record RankPlan(
    double scores,
    long inputBytes,
    long outputBytes,
    long scratchBytes,
    long sentBytes,
    Travels travels,
    boolean bound) {
  /** What ranks send to one another. */
  public enum Travels {
    NOTHING("nothing"),
    EVERYTHING("all keys and values, once around"),
    SEGMENTS("keys and values of a pattern, within its segment"),
    PATTERNS("keys and values of all patterns, once around"),
    WINDOW("keys and values as far as the pattern reaches");

    private final String text;

    Travels(String text) {
      this.text = text;
    }

    /** In words. */
    public String text() {
      return text;
    }
  }

  /**
   * A problem, split.
   *
   * @param length positions of a sequence
   * @param ranks at most as many as positions
   * @param threads of a rank
   */
  public record Split(
      long length,
      long ranks,
      int batch,
      int heads,
      int kvHeads,
      int dimension,
      boolean causal,
      DataType type,
      int threads) {
    public Split {
      if (ranks < 1 || ranks > length) {
        throw new IllegalArgumentException(
            "%d positions can't be split over %d ranks: give 1 to %d"
                .formatted(length, ranks, length));
      }
    }

    /** Positions of the rank with the most. */
    long shard() {
      return Math.ceilDiv(length, ranks);
    }

    private int group() {
      return heads / kvHeads;
    }

    private double dense() {
      return Estimate.among((double) length, causal) * heads * batch;
    }

    private long rowBytes() {
      return type.bytes(dimension);
    }

    private long keyRows(long positions) {
      return product(2, positions, rowBytes(), batch);
    }
  }

  /** More blocks a side are not counted one by one. */
  private static final int MOST_BLOCKS = 16_000;

  private static final int LEAST_SAMPLE = 4096;

  /**
   * The plan of a variant.
   *
   * @throws IllegalArgumentException if so many bytes can't be counted in 63 bits
   */
  public static RankPlan of(Variant variant, Split split) {
    try {
      return switch (variant) {
        case Flash flash ->
            around(split, split.dense(), false, flash.dense() ? rowsOfScores(split) : 0);
        case Ring _ -> around(split, split.dense(), false, 0);
        case Differential _ -> around(split, 2 * split.dense(), false, copies(split));
        case Sparse sparse ->
            around(
                split,
                (1 - sparse.ratio()) * split.dense(),
                false,
                blockMask(split, sparse.block(), split.length()));
        case BlockSparse blocks -> blocks(blocks, split);
        case Dilated dilated ->
            branches(split, dilated.branches(), false, !dilated.improved(), false);
        case RingDilated ring -> branches(split, ring.branches(), false, true, ring.version() == 2);
        case LongNet net -> branches(split, net.branches(), true, false, false);
        case Threshold _ -> around(split, split.dense(), true, keyMasks(split));
        case Learned learned -> around(split, split.dense(), true, foreseen(learned, split));
        default -> around(split, split.dense(), true, 0);
      };
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException(
          "%d positions of %d heads of %d are more bytes than 63 bits count"
              .formatted(split.length(), split.heads(), split.dimension()),
          e);
    }
  }

  private static long product(long... factors) {
    long product = 1;
    for (long factor : factors) {
      product = Math.multiplyExact(product, factor);
    }
    return product;
  }

  private static long sum(long... parts) {
    long sum = 0;
    for (long part : parts) {
      sum = Math.addExact(sum, part);
    }
    return sum;
  }

  private static RankPlan of(
      Split split, double scores, long scratch, long sent, Travels travels, boolean bound) {
    return new RankPlan(
        scores,
        product(
            split.shard(), split.heads() + 2L * split.kvHeads(), split.rowBytes(), split.batch()),
        product(split.shard(), split.heads(), split.rowBytes() + Float.BYTES, split.batch()),
        scratch,
        sent,
        sent == 0 ? Travels.NOTHING : travels,
        bound);
  }

  private static long panels(Split split, long keys) {
    long values = Math.ceilDiv(split.dimension(), Estimate.LANES) * (long) Estimate.LANES;
    return product(2, keys + Estimate.LANES, values, Float.BYTES, split.threads());
  }

  private static long merges(Split split, long rows) {
    return product(2, rows, split.dimension() + 1L, Float.BYTES);
  }

  private static long rowsOfScores(Split split) {
    return product(split.threads(), Flash.ROWS_OF_SCORES, split.shard(), Float.BYTES);
  }

  private static long copies(Split split) {
    return product(split.shard(), split.rowBytes());
  }

  /** Masks of a rank's queries over all single keys. */
  private static long keyMasks(Split split) {
    return product(
        split.shard(),
        Math.ceilDiv(split.length(), KeyMask.BLOCK),
        Long.BYTES,
        split.heads(),
        split.batch());
  }

  /** A mask of a rank's blocks of queries over so many positions of keys. */
  private static long blockMask(Split split, long block, long keys) {
    return product(
        Math.ceilDiv(split.shard(), block),
        Math.ceilDiv(Math.ceilDiv(keys, block), Long.SIZE),
        Long.BYTES);
  }

  /** What a scorer foresees of a sequence's heads, and the masks that are made of it. */
  private static long foreseen(Learned learned, Split split) {
    long block = learned.block();
    long shares =
        product(
            Math.ceilDiv(split.shard(), block),
            Math.ceilDiv(split.length(), block),
            Float.BYTES,
            split.heads());
    long masks = product(blockMask(split, block, split.length()), split.heads(), split.batch());
    return sum(shares, masks, learned.keys() > 0 ? keyMasks(split) : 0);
  }

  /** Every rank's keys and values visit every other rank. */
  private static RankPlan around(Split split, double scores, boolean bound, long more) {
    long keys = product(split.keyRows(split.shard()), split.kvHeads());
    boolean alone = split.ranks() == 1;
    long onTheWay = alone ? 0 : sum(2 * keys, product(split.group(), merges(split, split.shard())));
    return of(
        split,
        scores,
        sum(panels(split, split.shard()), onTheWay, more),
        product(split.ranks() - 1, keys),
        Travels.EVERYTHING,
        bound);
  }

  private static RankPlan blocks(BlockSparse pattern, Split split) {
    long block = pattern.block();
    long reach =
        switch (pattern.pattern()) {
          case LOCAL_WINDOW -> pattern.window() / block / 2 * block + block;
          case DILATED_SPARSE ->
              (1 + pattern.rates().stream().limit(3).mapToLong(rate -> rate).max().orElse(0))
                  * block;
          default -> split.length();
        };
    boolean counted =
        pattern.pattern() != BlockPattern.RANDOM && pattern.pattern() != BlockPattern.ADAPTIVE;
    double scores = counted ? fixed(pattern, split) : pattern.density() * split.dense();
    boolean bound = Double.isNaN(scores);
    long masks = pattern.pattern() == BlockPattern.ADAPTIVE ? split.heads() * split.batch() : 1;
    if (reach >= split.length() - split.shard()) {
      long mask = product(masks, blockMask(split, block, split.length()));
      return around(split, bound ? split.dense() : scores, bound, mask);
    }
    long keys = product(split.keyRows(reach), split.kvHeads(), split.causal() ? 1 : 2);
    return of(
        split,
        bound ? split.dense() : scores,
        sum(
            panels(split, split.shard() + reach),
            keys,
            blockMask(split, block, split.shard() + reach)),
        keys,
        Travels.WINDOW,
        bound);
  }

  /**
   * Scores of a pattern that the length alone decides. Their number is a polynomial of second
   * degree in lengths that hold whole periods of the pattern: three short ones tell it. NaN where
   * that would be too many blocks to count.
   */
  private static double fixed(BlockSparse pattern, Split split) {
    long block = pattern.block();
    long period =
        switch (pattern.pattern()) {
          case HIERARCHICAL -> block / gcd(block, 1024) * 1024;
          case STRIDED -> block * pattern.stride();
          default -> block;
        };
    long reach =
        Math.max(
            Math.max(pattern.window(), LEAST_SAMPLE),
            block
                * Math.max(
                    pattern.global(),
                    pattern.rates().stream().mapToInt(rate -> rate).max().orElse(1)));
    long step = Math.ceilDiv(reach + block, period) * period;
    long most = Math.min(3 * step, split.length());
    if (most / block > MOST_BLOCKS || most > Integer.MAX_VALUE) {
      return Double.NaN;
    }
    double ofHead;
    if (split.length() <= 3 * step) {
      ofHead = count(pattern, split, split.length());
    } else {
      double first = count(pattern, split, step);
      double second = count(pattern, split, 2 * step);
      double third = count(pattern, split, 3 * step);
      double t = (double) split.length() / step - 1;
      ofHead = first + t * (second - first) + t * (t - 1) / 2 * (third - 2 * second + first);
    }
    return ofHead * split.heads() * split.batch();
  }

  private static double count(BlockSparse pattern, Split split, long length) {
    AttentionShape head =
        new AttentionShape(1, (int) length, 1, 1, split.dimension(), split.causal());
    return pattern.estimate(head, split.type(), 1).scores();
  }

  private static long gcd(long a, long b) {
    return b == 0 ? a : gcd(b, a % b);
  }

  /** Heads that meet the same keys in a branch. */
  private record Pattern(int kvHead, Branch branch, int offset) {}

  /**
   * Dilated attention over ranks.
   *
   * @param every whether every head is in every branch
   * @param gathers whether positions are copied together
   * @param around whether copies visit all ranks, be they of the segment or not
   */
  private static RankPlan branches(
      Split split, Branches all, boolean every, boolean gathers, boolean around) {
    int length = (int) Math.min(split.length(), Integer.MAX_VALUE);
    List<Branch> usual = all.of(length);
    int[] dealt = all.deal(split.heads(), length);
    double scores = 0;
    long copies = 0;
    long longest = 0;
    long mostRows = 0;
    Set<Pattern> patterns = new HashSet<>();
    for (int head = 0; head < split.heads(); head++) {
      int[] own = every ? IntStream.range(0, usual.size()).toArray() : new int[] {dealt[head]};
      for (int index : own) {
        Branch branch = usual.get(index);
        double segment = Math.min(branch.segment(), split.length());
        scores +=
            split.length() / segment * Estimate.among(segment / branch.rate(), split.causal());
        long rows = rows(split, branch);
        long keys = Math.min(rows, Math.ceilDiv(branch.segment(), branch.rate()));
        longest = Math.max(longest, keys);
        mostRows = Math.max(mostRows, rows);
        if (gathers) {
          copies = sum(copies, product(rows, 4 * split.rowBytes() + Float.BYTES + Integer.BYTES));
        }
        int offset =
            every ? LongNet.offset(head, branch.rate(), split.heads()) : index % branch.rate();
        patterns.add(new Pattern(head / split.group(), branch, offset));
      }
    }
    long sent = 0;
    long onTheWay = 0;
    for (Pattern pattern : patterns) {
      long visits = around ? split.ranks() - 1 : visits(split, pattern.branch());
      long keys = split.keyRows(around ? rows(split, pattern.branch()) : leaving(split, pattern));
      sent = sum(sent, product(visits, keys));
      onTheWay = sum(onTheWay, visits == 0 ? 0 : 2 * keys);
    }
    long merges =
        every
            ? merges(split, split.shard())
            : sent == 0 ? 0 : product(split.group(), merges(split, mostRows));
    return of(
        split,
        scores * split.batch(),
        sum(panels(split, longest), copies, onTheWay, merges),
        sent,
        around ? Travels.PATTERNS : Travels.SEGMENTS,
        false);
  }

  /** A rank's positions of a branch that attend, of one head. */
  private static long rows(Split split, Branch branch) {
    return Math.ceilDiv(split.shard(), branch.rate());
  }

  /** Those that others may want: of segments shorter than a shard, the first and the last. */
  private static long leaving(Split split, Pattern pattern) {
    long segment = Math.min(pattern.branch().segment(), split.length());
    long ofSegment = Math.ceilDiv(segment, pattern.branch().rate());
    long rows = rows(split, pattern.branch());
    return segment < split.shard() ? Math.min(rows, 2 * ofSegment) : rows;
  }

  /** To how many others a rank's keys go: those that share a segment with it. */
  private static long visits(Split split, Branch branch) {
    long shard = split.shard();
    long segment = Math.min(branch.segment(), split.length());
    if (shard % segment == 0) {
      return 0;
    }
    long others = segment % shard == 0 ? segment / shard - 1 : Math.ceilDiv(segment, shard);
    return Math.min(split.ranks() - 1, others);
  }
}
