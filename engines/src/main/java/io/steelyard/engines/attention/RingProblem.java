package io.steelyard.engines.attention;

import io.steelyard.kernels.attention.AttentionInputs;
import io.steelyard.kernels.attention.AttentionOutputs;
import io.steelyard.kernels.attention.AttentionShape;
import io.steelyard.kernels.attention.RankVariant;
import io.steelyard.kernels.attention.RingShards;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * A problem of attention that is split over processes.
 *
 * @param variant its name with parameters, all but {@code ranks}: {@code ring}, {@code
 *     ring-dilated-v2:segments=64,rates=2}
 * @param threads of each rank
 * @param ranks processes
 * @param zigzag whether each rank holds two chunks, r and {@code 2R - 1 - r}
 * @param patience how long a rank waits for a neighbour that sends or takes nothing
 */
public record RingProblem(
    AttentionProblem problem,
    String variant,
    int threads,
    int ranks,
    boolean zigzag,
    Duration patience) {
  /** The engine's name. */
  public static final String ENGINE = "attention-ring";

  /** The variant that is exact attention. */
  public static final String EXACT = "ring";

  /** In the name of a rank's count, before its number. */
  private static final String RANK = "rank.";

  private static final String RANKS = "ranks";
  private static final String ZIGZAG = "zigzag";
  private static final String PATIENCE = "patience-ms";
  private static final String RANK_THREADS = "rank-threads";

  /** What each rank counts in a pass. */
  public enum Count {
    SCORES,
    COMPUTE_NANOS,
    WAIT_NANOS,
    SENT_BYTES,
    RECEIVED_BYTES,
    SCRATCH_BYTES,
    MOVED_BYTES,
    BLOCKS_MET,
    PEAK_BYTES;

    /** The count of a rank, as it is named among those of a call. */
    public String of(int rank) {
      return RANK + rank + "." + label();
    }

    /** The name among a rank's own counts. */
    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** The problem as options of the engine. */
  public Map<String, String> options() {
    Map<String, String> options = new LinkedHashMap<>(problem.options(variant));
    options.put(RANKS, Integer.toString(ranks));
    options.put(ZIGZAG, Boolean.toString(zigzag));
    options.put(PATIENCE, Long.toString(patience.toMillis()));
    options.put(RANK_THREADS, Integer.toString(threads));
    return options;
  }

  /**
   * The problem that options tell.
   *
   * @throws IllegalArgumentException if they don't
   */
  public static RingProblem of(Map<String, String> options) {
    return new RingProblem(
        AttentionProblem.of(options),
        options.getOrDefault(AttentionProblem.VARIANT, ""),
        number(options, RANK_THREADS),
        number(options, RANKS),
        Boolean.parseBoolean(options.get(ZIGZAG)),
        Duration.ofMillis(number(options, PATIENCE)));
  }

  private static int number(Map<String, String> options, String key) {
    try {
      return Integer.parseInt(options.getOrDefault(key, ""));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "the engine %s is made by './steelyard attention ring': %s=%s is no number"
              .formatted(ENGINE, key, options.get(key)),
          e);
    }
  }

  /**
   * How a length is split.
   *
   * @throws IllegalArgumentException if it is too short to be
   */
  public RingShards shards(int length) {
    return new RingShards(problem.shape(length), ranks, zigzag);
  }

  /**
   * What the ranks compute of a length.
   *
   * @throws IllegalArgumentException if they can't; the message says why
   */
  public RankVariant ranks(int length) {
    return RankVariant.of(variant, shards(length));
  }

  /** The spelling of the same function in one process. */
  public String inOneProcess() {
    String[] parts = variant.split(":", 2);
    return parts[0].equals(EXACT)
        ? "flash"
        : "improved-dilated" + (parts.length == 2 ? ":" + parts[1] : "");
  }

  /** The spelling with its ranks. */
  public String withRanks() {
    return variant + (variant.contains(":") ? "," : ":") + RANKS + "=" + ranks;
  }

  /**
   * About how much memory all processes need for a length: the coordinator's inputs, results and
   * those it compares with; the ranks' shards, results, room for two blocks each, and sums.
   */
  public long bytes(int length) {
    AttentionShape shape = problem.shape(length);
    long inputs = AttentionInputs.bytes(shape, problem.type());
    long outputs = AttentionOutputs.bytes(shape, problem.type());
    long panels = 2L * length * shape.dimension() * Float.BYTES;
    long blocks = 4 * problem.type().bytes(shape.keyValues());
    long sums = shape.queryValues() * Float.BYTES;
    return 2 * inputs + 3 * outputs + blocks + 2 * sums + panels * (1 + ranks);
  }
}
