package io.steelyard.lab.benchmark;

import java.util.List;

/**
 * Benchmarks of one's own: a public class with a public constructor without parameters, named to
 * {@code ./steelyard bench java}.
 *
 * <pre>{@code
 * public final class Sums implements Benchmarks {
 *   public List<Benchmark<?, ?>> benchmarks() {
 *     return List.of(
 *         Benchmark.of("sum", "loop", Sums::loop)
 *             .variant("stream", Sums::stream, Benchmark.within(1e-9))
 *             .workload("million", () -> new Random(1).doubles(1_000_000).toArray()));
 *   }
 * }
 * }</pre>
 */
@FunctionalInterface
public interface Benchmarks {
  /**
   * What is to be measured. It is asked in every process, so the answer is always the same; inputs
   * are made later, by the workloads.
   */
  List<Benchmark<?, ?>> benchmarks();
}
