package io.steelyard.lab.study;

/**
 * The work that is timed in a cell, with llama-bench's names.
 *
 * @param kind what is done
 * @param prompt prompt tokens: timed in {@code PREFILL}, a sequence's length in {@code FORWARD}
 * @param generate tokens generated: timed in {@code DECODE}
 * @param depth tokens in the cache before the clock starts
 * @param batch sequences that are processed together
 * @param title what the user calls an {@code OPERATION}'s input; tells a {@code START} from disk;
 *     empty otherwise
 */
public record Workload(Kind kind, int prompt, int generate, int depth, int batch, String title) {

  /** What a cell's timed call does. */
  public enum Kind {
    /** Process start, load, first token; then one prompt and one generation for the peak memory. */
    START,
    PREFILL,
    DECODE,
    FORWARD,
    /** A command of the user's from its start to its end. */
    COMMAND,
    /** A batch of operations of the user's own benchmark. */
    OPERATION
  }

  /** Prompt tokens until the first token of a cold start. */
  public static final int START_PROMPT = 32;

  private static final String FROM_DISK = "disk";

  /** The fewest prompt tokens before a decode: the model needs something to go on from. */
  public static final int DECODE_PROMPT = 16;

  /** Whether the model's files are dropped from the page cache before a process loads them. */
  public boolean isFromDisk() {
    return kind == Kind.START && title.equals(FROM_DISK);
  }

  /** Work on tokens, or a command. */
  public Workload(Kind kind, int prompt, int generate, int depth, int batch) {
    this(kind, prompt, generate, depth, batch, "");
  }

  public static Workload start(int prompt, int generate, int depth) {
    return new Workload(Kind.START, prompt, generate, depth, 1);
  }

  /** A start whose model isn't in the page cache. */
  public static Workload startFromDisk(int prompt, int generate, int depth) {
    return new Workload(Kind.START, prompt, generate, depth, 1, FROM_DISK);
  }

  public static Workload prefill(int prompt, int depth) {
    return new Workload(Kind.PREFILL, prompt, 0, depth, 1);
  }

  public static Workload decode(int generate, int depth) {
    return new Workload(Kind.DECODE, 0, generate, depth, 1);
  }

  public static Workload forward(int batch, int length) {
    return new Workload(Kind.FORWARD, length, 0, 0, batch);
  }

  public static Workload command() {
    return new Workload(Kind.COMMAND, 0, 0, 0, 1);
  }

  public static Workload operation(String title) {
    return new Workload(Kind.OPERATION, 0, 0, 0, 1, title);
  }

  /** {@code pp512}, {@code tg64@d4096}, {@code fw4x128}, {@code start}. */
  public String name() {
    String at = depth > 0 ? "@d" + depth : "";
    return switch (kind) {
      case START -> title.isEmpty() ? "start" : "start-" + title;
      case PREFILL -> "pp" + prompt + at;
      case DECODE -> "tg" + generate + at;
      case FORWARD -> "fw" + batch + "x" + prompt;
      case COMMAND -> "command";
      case OPERATION -> title;
    };
  }

  /** Tokens that one timed call accounts for. */
  public long tokens() {
    return switch (kind) {
      case START -> START_PROMPT;
      case PREFILL -> prompt;
      case DECODE -> (long) batch * generate;
      case FORWARD -> (long) batch * prompt;
      case COMMAND, OPERATION -> 0;
    };
  }

  /** Tokens that the KV cache must hold. */
  public int context() {
    return switch (kind) {
      case START ->
          Math.max(
              START_PROMPT,
              Math.max(prefill(prompt, depth).context(), decode(generate, depth).context()));
      case PREFILL -> depth + prompt;
      case DECODE -> Math.max(depth, DECODE_PROMPT) + generate;
      case FORWARD -> prompt;
      case COMMAND, OPERATION -> 0;
    };
  }
}
