package io.steelyard.lab.study;

import java.util.OptionalDouble;

/**
 * What no engine can beat by much: how fast the machine reads and multiplies at best, and how much
 * of both a model's tokens need. A speed is reported as a share of that.
 *
 * <p>Source: Williams, Waterman and Patterson, "Roofline" (2009).
 *
 * @param threads compute threads that the machine was measured with
 * @param readBytesPerSecond read from memory at best
 * @param arithmetic the type that is multiplied: {@code int8}, {@code bf16} or {@code f32}
 * @param productsPerSecond multiply-and-add operations in that type at best; 0 where not known
 * @param layerBytes bytes of all layers' matrices
 * @param outputBytes bytes of the output matrix
 * @param layerProducts operations of all layers' matrices on one token
 * @param outputProducts operations of the output matrix on one token
 * @param keyValues values of one position in the KV cache, all layers, keys and values
 * @param attentionProducts operations of a token's attention to one position, all layers
 */
public record Limits(
    int threads,
    double readBytesPerSecond,
    String arithmetic,
    double productsPerSecond,
    long layerBytes,
    long outputBytes,
    long layerProducts,
    long outputProducts,
    long keyValues,
    long attentionProducts) {

  /**
   * A speed's share of the roofline: achieved ÷ min(peak, bandwidth × intensity), which is {@link
   * #leastSeconds} ÷ the time it took.
   *
   * @return empty where the least time isn't known
   */
  public OptionalDouble share(Workload workload, String kv, double tokensPerSecond) {
    OptionalDouble least = leastSeconds(workload, kv);
    return least.isPresent()
        ? OptionalDouble.of(least.getAsDouble() * tokensPerSecond / workload.tokens())
        : least;
  }

  /**
   * The longer of a call's least reading time and its least multiplying time.
   *
   * <ul>
   *   <li>Decode reads for each token all matrices and the KV cache so far, so where memory is the
   *       limit, as it nearly always is, the share is the bandwidth's (MBU): (layer bytes + output
   *       bytes + KV bytes a position × mean positions) × tok/s ÷ bandwidth. Sequences that are
   *       decoded together share the reading of the matrices.
   *   <li>Prefill of P tokens at depth D reads all matrices once, and D + P positions of the KV
   *       cache; it multiplies P × layer operations + attention operations × (P·D + P·(P+1)/2)
   *       positions + output operations of one position. Attention is counted causally, at its
   *       actual length, and against the peak of the weights' type as well.
   *   <li>A forward pass of B sequences is B prefills from nothing that read the matrices once,
   *       with output operations of every position.
   * </ul>
   *
   * @param kv type of the KV cache: {@code f16}, {@code f32} or {@code q8_0}
   * @return empty of other workloads, of a cache of another type, and of a prefill where the peak
   *     is not known
   */
  public OptionalDouble leastSeconds(Workload workload, String kv) {
    double tokens = workload.tokens();
    double before =
        switch (workload.kind()) {
          case PREFILL -> workload.depth();
          // The last prompt token is the first input: it is counted among the tokens.
          case DECODE -> Math.max(workload.depth(), Workload.DECODE_PROMPT) - 1;
          case FORWARD -> 0;
          case START, COMMAND, OPERATION -> Double.NaN;
        };
    double bytesOfValue =
        switch (kv) {
          case "f16" -> 2;
          case "f32" -> 4;
          // Bytes, and a scale for 32 of them.
          case "q8_0" -> 34 / 32.0;
          default -> Double.NaN;
        };
    boolean decode = workload.kind() == Workload.Kind.DECODE;
    double passes = decode ? workload.generate() : 1;
    double outputs = workload.kind() == Workload.Kind.PREFILL ? 1 : tokens;
    double attended = tokens * before + tokens * (tokens / workload.batch() + 1) / 2;
    double cached = decode ? attended : before + tokens;
    double bytes = passes * (layerBytes + outputBytes) + cached * keyValues * bytesOfValue;
    double products =
        tokens * layerProducts + outputs * outputProducts + attended * attentionProducts;
    double multiplying = productsPerSecond > 0 ? products / productsPerSecond : unknown(decode);
    double least = Math.max(bytes / readBytesPerSecond, multiplying);
    return Double.isFinite(least) ? OptionalDouble.of(least) : OptionalDouble.empty();
  }

  /** What a machine allows, where it runs no model. */
  public static Limits ofMachine(
      int threads, double readBytesPerSecond, String arithmetic, double productsPerSecond) {
    return new Limits(threads, readBytesPerSecond, arithmetic, productsPerSecond, 0, 0, 0, 0, 0, 0);
  }

  /**
   * The share of the roofline of work that was counted: the longer of its least reading time and
   * its least multiplying time ÷ the time it took.
   *
   * @param bytes read and written
   * @param products multiply-and-add operations
   * @return empty where the peak is not known
   */
  public OptionalDouble share(double bytes, double products, double seconds) {
    return productsPerSecond > 0
        ? OptionalDouble.of(
            Math.max(bytes / readBytesPerSecond, products / productsPerSecond) / seconds)
        : OptionalDouble.empty();
  }

  /** Decode is limited by memory all the same. */
  private static double unknown(boolean decode) {
    return decode ? 0 : Double.NaN;
  }
}
