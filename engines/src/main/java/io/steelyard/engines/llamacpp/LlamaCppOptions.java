package io.steelyard.engines.llamacpp;

import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import io.steelyard.lab.worker.LoadRequest;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * How a model is loaded: a {@link LoadRequest} with the engine's own options read and checked.
 * Defaults are llama-bench's.
 *
 * @param threads compute threads, 1 to {@link LlamaCppStructs#MAX_THREADS}
 * @param context tokens the KV cache must hold
 * @param flash whether flash attention is used
 * @param kv type of the KV cache
 * @param mmap whether the weights stay in the mapped file
 * @param repack whether weights may be rearranged for this processor's kernels
 * @param batch the most tokens in one call
 * @param ubatch the most tokens in one pass through the layers
 */
record LlamaCppOptions(
    int threads,
    int context,
    Flash flash,
    KvType kv,
    boolean mmap,
    boolean repack,
    int batch,
    int ubatch) {

  /** What each option does, for {@code steelyard engines list} and for refusals. */
  static final List<String> DESCRIPTIONS =
      List.of(
          "threads=N compute threads (default: --threads)",
          "flash=on|off|auto flash attention (default: the study's, on)",
          "kv=f16|f32|q8_0 type of the KV cache (default: the study's, f16)",
          "mmap=on|off weights stay in the mapped file (default: on)",
          "repack=on|off weights are rearranged for this processor's kernels (default: on)",
          "batch=N most tokens in one call (default: 2048)",
          "ubatch=N most tokens in one pass through the layers (default: 512)");

  private static final int MOST_BATCH = 1 << 20;

  /** {@code llama_flash_attn_type}. */
  enum Flash {
    AUTO(-1),
    OFF(0),
    ON(1);

    final int id;

    Flash(int id) {
      this.id = id;
    }
  }

  /** Types that the KV cache may have, with their {@code ggml_type} and bytes of 32 values. */
  enum KvType {
    F32(0, 128),
    F16(1, 64),
    Q8_0(8, 34);

    final int id;
    final int bytesOf32;

    KvType(int id, int bytesOf32) {
      this.id = id;
      this.bytesOf32 = bytesOf32;
    }

    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * Reads a request.
   *
   * @throws EngineException if an option is unknown or a value is none of its values
   */
  static LlamaCppOptions of(LoadRequest request) throws EngineException {
    Map<String, String> options = new TreeMap<>(request.options());
    String kv = options.getOrDefault("kv", request.kv());
    options.remove("kv");
    String flash = options.remove("flash");
    LlamaCppOptions result =
        new LlamaCppOptions(
            number("threads", options.remove("threads"), request.threads()),
            request.context(),
            flash == null
                ? (request.flashAttention() ? Flash.ON : Flash.OFF)
                : choice("flash", flash, Flash.class),
            choice("kv", kv, KvType.class),
            onOff("mmap", options.remove("mmap")),
            onOff("repack", options.remove("repack")),
            number("batch", options.remove("batch"), 2048),
            number("ubatch", options.remove("ubatch"), 512));
    if (!options.isEmpty()) {
      throw new EngineException(
          Kind.UNSUPPORTED,
          "llamacpp has no option '%s'; it has: %s"
              .formatted(options.keySet().iterator().next(), String.join("; ", DESCRIPTIONS)));
    }
    result.check();
    return result;
  }

  /** The same with another size of batch, for a context of its own. */
  LlamaCppOptions withBatch(int tokens) {
    return new LlamaCppOptions(threads, context, flash, kv, mmap, repack, tokens, ubatch);
  }

  private void check() throws EngineException {
    between("threads", threads, 1, LlamaCppStructs.MAX_THREADS);
    between("context", context, 1, Integer.MAX_VALUE);
    between("batch", batch, 1, MOST_BATCH);
    between("ubatch", ubatch, 1, batch);
    if (kv == KvType.Q8_0 && flash == Flash.OFF) {
      throw bad("kv=q8_0 needs flash attention; use flash=on, or kv=f16");
    }
  }

  private static void between(String name, int value, int least, int most) throws EngineException {
    if (value < least || value > most) {
      throw bad("%s must be %d to %d, not %d".formatted(name, least, most, value));
    }
  }

  private static int number(String name, String text, int otherwise) throws EngineException {
    if (text == null) {
      return otherwise;
    }
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw bad("%s must be a whole number, not '%s'".formatted(name, text));
    }
  }

  private static boolean onOff(String name, String text) throws EngineException {
    return switch (text) {
      case null -> true;
      case "on" -> true;
      case "off" -> false;
      default -> throw bad("%s must be on or off, not '%s'".formatted(name, text));
    };
  }

  private static <E extends Enum<E>> E choice(String name, String text, Class<E> type)
      throws EngineException {
    for (E value : type.getEnumConstants()) {
      if (value.name().toLowerCase(Locale.ROOT).equals(text)) {
        return value;
      }
    }
    String choices =
        Arrays.stream(type.getEnumConstants())
            .map(value -> value.name().toLowerCase(Locale.ROOT))
            .collect(Collectors.joining(", "));
    throw bad("%s must be one of %s, not '%s'".formatted(name, choices, text));
  }

  private static EngineException bad(String message) {
    return new EngineException(Kind.BAD_REQUEST, "llamacpp: " + message);
  }
}
