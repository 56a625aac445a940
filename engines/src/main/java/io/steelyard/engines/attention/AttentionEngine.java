package io.steelyard.engines.attention;

import io.steelyard.kernels.attention.AttentionInputs;
import io.steelyard.kernels.attention.AttentionOutputs;
import io.steelyard.kernels.attention.AttentionShape;
import io.steelyard.kernels.attention.Counts;
import io.steelyard.kernels.attention.MemoryPool;
import io.steelyard.kernels.attention.Oracle;
import io.steelyard.kernels.attention.PatternCache;
import io.steelyard.kernels.attention.Plan;
import io.steelyard.kernels.attention.RandomInputs;
import io.steelyard.kernels.attention.Variant;
import io.steelyard.kernels.attention.Variants;
import io.steelyard.kernels.attention.Workbench;
import io.steelyard.lab.benchmark.BenchmarkProtocol;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import io.steelyard.lab.worker.KernelReport;
import io.steelyard.lab.worker.KernelRequest;
import io.steelyard.lab.worker.LoadReport;
import io.steelyard.lab.worker.LoadRequest;
import java.lang.foreign.Arena;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * One variant of attention. A {@code load} names it and the problem; a {@code kernel} call, by the
 * name of a length, times forward passes over random inputs of that length, and holds the last
 * result to the variant's definition: many rows of it where the shape holds {@code prove}, else a
 * few.
 */
final class AttentionEngine extends AttentionKernelEngine {
  /**
   * Where it is asked for, a pass of at most so many nanoseconds is made once more to be counted.
   */
  private static final long ONCE_MORE = 2_000_000_000L;

  private Map<String, String> options = Map.of();
  private AttentionProblem problem;
  private Variant variant;
  private Workbench workbench;
  private Problem current;
  private long calls;

  /** Inputs of a length, and room for the results. */
  private record Problem(
      int length, Arena arena, AttentionInputs inputs, AttentionOutputs outputs) {}

  AttentionEngine() {
    super(AttentionProblem.ENGINE);
  }

  @Override
  public LoadReport load(LoadRequest request) throws EngineException {
    long start = System.nanoTime();
    // The lab takes the number of threads out of an engine's options.
    Map<String, String> all = new LinkedHashMap<>(request.options());
    all.put("threads", Integer.toString(request.threads()));
    close();
    options = Map.copyOf(all);
    try {
      problem = AttentionProblem.of(options);
      variant = Variants.of(options.getOrDefault(AttentionProblem.VARIANT, ""));
      workbench =
          new Workbench(
              problem.tier(),
              problem.threads(),
              problem.pool() ? MemoryPool.pooled() : MemoryPool.unpooled(),
              new PatternCache(problem.patterns() ? PATTERNS : 0));
    } catch (IllegalArgumentException | UnsupportedOperationException e) {
      throw new EngineException(Kind.BAD_REQUEST, e.getMessage(), e);
    }
    return loaded(start, problem.threads());
  }

  @Override
  public KernelReport kernel(KernelRequest request) throws EngineException {
    try {
      Problem of = problem(AttentionProblem.length(request.name()));
      boolean prove = request.shape().containsKey(BenchmarkProtocol.PROVE);
      long operations = operations(request, options);
      Counts before = workbench.counts();
      long start = System.nanoTime();
      for (long i = 1; i < operations; i++) {
        variant.forward(of.inputs(), workbench, of.outputs());
      }
      long nanos;
      Oracle.Deviation error;
      try (Plan plan = variant.plan(of.inputs(), workbench)) {
        plan.run(of.outputs());
        nanos = System.nanoTime() - start;
        error = check(of, plan, prove);
      }
      return new KernelReport(
          nanos,
          error.isRounding(problem.type()) ? 0 : Math.max(error.relative(), Double.MIN_NORMAL),
          prove ? Optional.of(counts(of, before, operations, nanos, error)) : Optional.empty());
    } catch (IllegalArgumentException e) {
      throw new EngineException(Kind.BAD_REQUEST, e.getMessage(), e);
    } catch (OutOfMemoryError e) {
      throw new EngineException(
          Kind.FAILED,
          "%s on %s needs more memory than there is: %s"
              .formatted(options.get(AttentionProblem.VARIANT), request.name(), e.getMessage()),
          e);
    }
  }

  private Problem problem(int length) {
    if (current == null || current.length() != length) {
      forget();
      AttentionShape shape = problem.shape(length);
      Arena arena = Arena.ofShared();
      current =
          new Problem(
              length,
              arena,
              RandomInputs.of(arena, shape, problem.type(), SEED),
              AttentionOutputs.allocate(arena, shape, problem.type()));
    }
    return current;
  }

  private Oracle.Deviation check(Problem of, Plan plan, boolean prove) {
    int rows = prove ? provedRows(of.length()) : CHECKED_ROWS;
    return Oracle.check(of.inputs(), plan, of.outputs(), rows, SEED + calls++);
  }

  private Map<String, Long> counts(
      Problem of, Counts before, long operations, long nanos, Oracle.Deviation error) {
    Counts done = workbench.counts().since(before);
    Map<String, Long> counts = new LinkedHashMap<>();
    counts.put("scores", done.scores() / operations);
    counts.put("chosen_scores", done.chosen() / operations);
    counts.put("dense_scores", of.inputs().shape().scores());
    counts.put("bytes_moved", done.bytesMoved() / operations);
    counts.put("scratch_bytes", done.scratchBytes());
    counts.put("rows_checked", error.rows());
    counts.put("density_e9", Math.round(error.density() * 1e9));
    counts.put("relative_error_e12", Math.round(error.relative() * 1e12));
    MemoryPool.Statistics pool = workbench.pool().statistics();
    PatternCache.Statistics patterns = workbench.patterns().statistics();
    counts.put("pool_peak_bytes", pool.peakBytes());
    counts.put("pool_allocations", pool.allocations());
    counts.put("pool_reuses", pool.reuses());
    counts.put("pattern_hits", patterns.hits());
    counts.put("pattern_misses", patterns.misses());
    counts.put("pattern_evictions", patterns.evictions());
    boolean wanted = Boolean.parseBoolean(options.get(AttentionProblem.WARM_COUNTS));
    if (wanted && nanos <= ONCE_MORE * operations) {
      variant.forward(of.inputs(), workbench, of.outputs());
      MemoryPool.Statistics poolNow = workbench.pool().statistics();
      PatternCache.Statistics patternsNow = workbench.patterns().statistics();
      counts.put("warm_pool_allocations", poolNow.allocations() - pool.allocations());
      counts.put("warm_pool_reuses", poolNow.reuses() - pool.reuses());
      counts.put("warm_pattern_hits", patternsNow.hits() - patterns.hits());
      counts.put("warm_pattern_misses", patternsNow.misses() - patterns.misses());
    }
    return counts;
  }

  private void forget() {
    if (current != null) {
      current.arena().close();
      current = null;
    }
  }

  @Override
  public void close() {
    forget();
    if (workbench != null) {
      workbench.close();
      workbench = null;
    }
  }
}
