package io.steelyard.engines.attention;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tier;
import io.steelyard.kernels.attention.AttentionInputs;
import io.steelyard.kernels.attention.AttentionOutputs;
import io.steelyard.kernels.attention.AttentionShape;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * What a variant of attention is measured on, all but the length.
 *
 * @param heads query heads
 * @param kvHeads heads of keys and values
 * @param dimension values of a head
 * @param batch sequences, or {@link #AUTO}
 * @param autoBytes the most that inputs and results of {@link #AUTO} sequences may take; one is
 *     taken in any case
 * @param causal whether queries see no position after their own
 * @param type of queries, keys, values and results
 * @param tier kernels
 * @param threads compute threads
 * @param pool whether scratch memory is used again
 * @param patterns whether patterns are cached
 */
public record AttentionProblem(
    int heads,
    int kvHeads,
    int dimension,
    int batch,
    long autoBytes,
    boolean causal,
    DataType type,
    Tier tier,
    int threads,
    boolean pool,
    boolean patterns) {
  /** The engine's name. */
  public static final String ENGINE = "attention";

  /** The option that names the variant with its parameters. */
  public static final String VARIANT = "variant";

  /** The option, {@code true}, for counts of what pool and cache do in a pass after the first. */
  public static final String WARM_COUNTS = "warm-counts";

  /** A batch of as many sequences as make {@value #AUTO_TOKENS} tokens, a few at most. */
  public static final int AUTO = 0;

  private static final int KILO = 1024;
  private static final int AUTO_TOKENS = 16 * KILO;
  private static final int AUTO_SEQUENCES = 8;

  /** The problem as options of the engine. */
  public Map<String, String> options(String variant) {
    Map<String, String> options = new LinkedHashMap<>();
    options.put(VARIANT, variant);
    options.put("heads", Integer.toString(heads));
    options.put("kv-heads", Integer.toString(kvHeads));
    options.put("dim", Integer.toString(dimension));
    options.put("batch", Integer.toString(batch));
    options.put("auto-bytes", Long.toString(autoBytes));
    options.put("causal", Boolean.toString(causal));
    options.put("dtype", type.name().toLowerCase(Locale.ROOT));
    options.put("tier", tier.label());
    options.put("threads", Integer.toString(threads));
    options.put("pool", Boolean.toString(pool));
    options.put("patterns", Boolean.toString(patterns));
    return options;
  }

  /** The problem that options tell. */
  public static AttentionProblem of(Map<String, String> options) {
    return new AttentionProblem(
        number(options, "heads"),
        number(options, "kv-heads"),
        number(options, "dim"),
        number(options, "batch"),
        options.containsKey("auto-bytes")
            ? whole(options, "auto-bytes", 0, Long.MAX_VALUE)
            : Long.MAX_VALUE,
        Boolean.parseBoolean(options.get("causal")),
        DataType.valueOf(options.getOrDefault("dtype", "f32").toUpperCase(Locale.ROOT)),
        Tier.ofLabel(options.getOrDefault("tier", "")).orElseGet(Kernels::best),
        number(options, "threads"),
        Boolean.parseBoolean(options.get("pool")),
        Boolean.parseBoolean(options.get("patterns")));
  }

  private static int number(Map<String, String> options, String key) {
    return (int) whole(options, key, Integer.MIN_VALUE, Integer.MAX_VALUE);
  }

  private static long whole(Map<String, String> options, String key, long least, long most) {
    try {
      long number = Long.parseLong(options.getOrDefault(key, ""));
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Refused as one that is out of bounds.
    }
    throw new IllegalArgumentException(
        "the engine attention is made by './steelyard attention': %s=%s is no number"
            .formatted(key, options.get(key)));
  }

  /** The shape at a length. */
  public AttentionShape shape(int length) {
    if (batch != AUTO) {
      return shape(batch, length);
    }
    int sequences = Math.clamp(AUTO_TOKENS / length, 1, AUTO_SEQUENCES);
    while (sequences > 1 && bytes(shape(sequences, length)) > autoBytes) {
      sequences--;
    }
    return shape(sequences, length);
  }

  private AttentionShape shape(int sequences, int length) {
    return new AttentionShape(sequences, length, heads, kvHeads, dimension, causal);
  }

  /** The same problem with or without what is kept from one pass to the next. */
  public AttentionProblem keeping(boolean scratchMemory, boolean madePatterns) {
    return new AttentionProblem(
        heads,
        kvHeads,
        dimension,
        batch,
        autoBytes,
        causal,
        type,
        tier,
        threads,
        scratchMemory,
        madePatterns);
  }

  /** The problem in a few words. */
  public String title() {
    String sequences = batch == 1 ? "" : batch == AUTO ? "batch auto, " : "batch " + batch + ", ";
    String ofKeys = kvHeads == heads ? "" : " (%d of keys)".formatted(kvHeads);
    return "%s%d head%s%s of %d, %s, %s, %s"
        .formatted(
            sequences,
            heads,
            heads == 1 ? "" : "s",
            ofKeys,
            dimension,
            type.name().toLowerCase(Locale.ROOT),
            causal ? "causal" : "not causal",
            tier.label());
  }

  /** Bytes of inputs and results at a length. */
  public long bytes(int length) {
    return bytes(shape(length));
  }

  private long bytes(AttentionShape shape) {
    return AttentionInputs.bytes(shape, type) + AttentionOutputs.bytes(shape, type);
  }

  /** A length as it is named: {@code 16K}, {@code 1M}, or the plain number. */
  public static String name(int length) {
    if (length % (KILO * KILO) == 0) {
      return length / (KILO * KILO) + "M";
    }
    return length % KILO == 0 ? length / KILO + "K" : Integer.toString(length);
  }

  /**
   * The length of a name.
   *
   * @throws IllegalArgumentException if it is none, or too large for a sequence
   */
  public static int length(String name) {
    String digits = name.strip();
    int unit = 1;
    if (digits.endsWith("K") || digits.endsWith("k")) {
      unit = KILO;
    } else if (digits.endsWith("M") || digits.endsWith("m")) {
      unit = KILO * KILO;
    }
    if (unit > 1) {
      digits = digits.substring(0, digits.length() - 1);
    }
    try {
      int length = Math.multiplyExact(Integer.parseInt(digits), unit);
      if (length > 0) {
        return length;
      }
    } catch (ArithmeticException | NumberFormatException e) {
      // Refused as one that is not positive.
    }
    throw new IllegalArgumentException(
        "'%s' is no length: write tokens, such as 4096, 16K or 1M (1,048,576)".formatted(name));
  }
}
