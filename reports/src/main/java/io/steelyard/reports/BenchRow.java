package io.steelyard.reports;

import io.steelyard.stats.Interval;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One throughput test of one engine: what {@code steelyard bench} prints in the formats that users
 * of llama-bench know.
 *
 * @param label the engine's label
 * @param buildCommit commit of this build, shortened
 * @param cpuInfo the processor's name
 * @param backend what computed, such as {@code CPU} or {@code steelyard vector}; llama-bench's
 *     readers tell engines apart by it
 * @param modelFilename path of the model
 * @param modelType architecture, size and precision in words, such as {@code llama 135M Q4_1}
 * @param modelSize bytes of its tensors
 * @param modelParameters number of its weights
 * @param randomWeights whether the weights were drawn at random
 * @param threads threads that computed
 * @param promptTokens tokens processed at once; 0 in a test of decoding
 * @param generatedTokens tokens decoded one by one; 0 in a test of prefill
 * @param depth tokens in the cache beforehand
 * @param test its name: {@code pp512}, {@code tg64}, {@code pp512@d4096}, {@code fw4x128}
 * @param testTime when the test began
 * @param samplesNanos time of each trial in nanoseconds, at least one, each above 0
 * @param throughput mean tokens a second with its 95 % interval over forks, where there is one
 * @param roofline share of the machine's measured limits, where known
 * @param settings further fields of llama-bench that are known of this engine, such as {@code
 *     n_batch}, {@code type_k}, {@code flash_attn}, by their names there; values are texts, numbers
 *     or booleans
 */
public record BenchRow(
    String label,
    String buildCommit,
    String cpuInfo,
    String backend,
    String modelFilename,
    String modelType,
    long modelSize,
    long modelParameters,
    boolean randomWeights,
    int threads,
    int promptTokens,
    int generatedTokens,
    int depth,
    String test,
    Instant testTime,
    List<Long> samplesNanos,
    Optional<Interval> throughput,
    Optional<Double> roofline,
    Map<String, Object> settings) {

  public BenchRow {
    samplesNanos = List.copyOf(samplesNanos);
    settings = Map.copyOf(settings);
    if (promptTokens < 0 || generatedTokens < 0 || promptTokens + generatedTokens == 0) {
      throw new IllegalArgumentException(
          "a test of " + promptTokens + " prompt and " + generatedTokens + " generated tokens");
    }
    if (samplesNanos.isEmpty() || samplesNanos.stream().anyMatch(nanos -> nanos <= 0)) {
      throw new IllegalArgumentException(label + " has no sample, or one that took no time");
    }
  }

  /** Tokens a second of each trial. */
  public List<Double> samplesPerSecond() {
    double tokens = (double) promptTokens + generatedTokens;
    return samplesNanos.stream().map(nanos -> 1e9 * tokens / nanos).toList();
  }
}
