package io.steelyard.engines.attention;

import io.steelyard.engines.attention.RingProblem.Count;
import io.steelyard.kernels.attention.AttentionInputs;
import io.steelyard.kernels.attention.AttentionOutputs;
import io.steelyard.kernels.attention.AttentionShape;
import io.steelyard.kernels.attention.MemoryPool;
import io.steelyard.kernels.attention.Oracle;
import io.steelyard.kernels.attention.OutputDifference;
import io.steelyard.kernels.attention.PatternCache;
import io.steelyard.kernels.attention.Plan;
import io.steelyard.kernels.attention.RandomInputs;
import io.steelyard.kernels.attention.RankVariant;
import io.steelyard.kernels.attention.RingShards;
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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Exact attention over processes: the coordinator of a ring, which starts its ranks, times their
 * passes and holds what they give to the definition. A {@code kernel} call by the name of a length
 * makes passes; a proof compares every value with flash in one process (dilated attention with
 * dilated), and rows of every head with the definition in double precision.
 */
final class RingEngine extends AttentionKernelEngine {
  private Map<String, String> options = Map.of();
  private RingProblem problem;
  private Variant reference;
  private Workbench workbench;
  private Ranks ranks;
  private Held held;
  private long calls;

  /** Inputs of a length, and what the ranks made of them. */
  private record Held(
      int length,
      RingShards shards,
      Arena arena,
      AttentionInputs inputs,
      AttentionOutputs outputs) {}

  /** What passes took and counted, by rank. */
  private record Passes(long nanos, List<Map<String, Long>> counts) {}

  RingEngine() {
    super(RingProblem.ENGINE);
  }

  @Override
  public LoadReport load(LoadRequest request) throws EngineException {
    long start = System.nanoTime();
    close();
    Map<String, String> all = new LinkedHashMap<>(request.options());
    all.put("threads", Integer.toString(request.threads()));
    options = Map.copyOf(all);
    try {
      problem = RingProblem.of(options);
      reference = Variants.of(problem.inOneProcess());
      workbench =
          new Workbench(
              problem.problem().tier(),
              problem.problem().threads(),
              MemoryPool.pooled(),
              new PatternCache(0));
    } catch (IllegalArgumentException | UnsupportedOperationException e) {
      throw new EngineException(Kind.BAD_REQUEST, e.getMessage(), e);
    }
    ranks = Ranks.start(problem);
    return loaded(start, problem.threads() * problem.ranks());
  }

  @Override
  public KernelReport kernel(KernelRequest request) throws EngineException {
    try {
      hold(AttentionProblem.length(request.name()));
      boolean prove = request.shape().containsKey(BenchmarkProtocol.PROVE);
      long operations = operations(request, options);
      Passes passes = passes(operations);
      Map<String, Long> counts = byRank(passes);
      ranks.gather(held.shards(), held.outputs());
      double error = prove ? prove(passes, counts) : check(CHECKED_ROWS, new LinkedHashMap<>());
      return new KernelReport(passes.nanos(), error, Optional.of(counts));
    } catch (IllegalArgumentException e) {
      throw new EngineException(Kind.BAD_REQUEST, e.getMessage(), e);
    } catch (OutOfMemoryError e) {
      throw new EngineException(
          Kind.FAILED, "the coordinator needs more memory than there is: " + e.getMessage(), e);
    }
  }

  /** The ranks' processes. */
  List<Long> pids() {
    return ranks.pids();
  }

  private void hold(int length) throws EngineException {
    if (held != null && held.length() == length) {
      return;
    }
    forget();
    RingShards shards = problem.shards(length);
    var _ = ranks.call(RankEngine.HOLD, _ -> Map.of(RankEngine.LENGTH, (long) length));
    Arena arena = Arena.ofShared();
    held =
        new Held(
            length,
            shards,
            arena,
            RandomInputs.of(arena, shards.shape(), problem.problem().type(), SEED),
            AttentionOutputs.allocate(arena, shards.shape(), problem.problem().type()));
  }

  private Passes passes(long operations) throws EngineException {
    long nanos = 0;
    List<Map<String, Long>> counts = new ArrayList<>();
    for (int rank = 0; rank < problem.ranks(); rank++) {
      counts.add(new LinkedHashMap<>());
    }
    for (long i = 0; i < operations; i++) {
      List<KernelReport> reports = ranks.call(RankEngine.PASS, _ -> Map.of());
      // They begin together, behind a barrier: the last to end ends the pass.
      long last = reports.stream().mapToLong(KernelReport::nanos).max().orElseThrow();
      nanos += last;
      for (int rank = 0; rank < problem.ranks(); rank++) {
        Map<String, Long> own = counts.get(rank);
        own.merge(Count.WAIT_NANOS.label(), last - reports.get(rank).nanos(), Long::sum);
        reports
            .get(rank)
            .counts()
            .orElseThrow()
            .forEach((name, n) -> own.merge(name, n, Long::sum));
      }
    }
    for (Map<String, Long> own : counts) {
      own.replaceAll((_, sum) -> sum / operations);
    }
    return new Passes(nanos, counts);
  }

  private Map<String, Long> byRank(Passes passes) {
    Map<String, Long> counts = new LinkedHashMap<>();
    List<Long> peaks = ranks.peakBytes();
    for (int rank = 0; rank < problem.ranks(); rank++) {
      for (Count count : Count.values()) {
        Long value =
            count == Count.PEAK_BYTES
                ? peaks.get(rank)
                : passes.counts().get(rank).get(count.label());
        counts.put(count.of(rank), value);
      }
    }
    return counts;
  }

  private long sum(Passes passes, Count count) {
    return passes.counts().stream().mapToLong(own -> own.get(count.label())).sum();
  }

  /** Holds some rows of every head to the definition; gives 0 where they are within rounding. */
  private double check(int rows, Map<String, Long> counts) {
    try (Plan definition = reference.plan(held.inputs(), workbench)) {
      Oracle.Deviation error =
          Oracle.check(held.inputs(), definition, held.outputs(), rows, SEED + calls++);
      counts.put("rows_checked", error.rows());
      counts.put("density_e9", Math.round(error.density() * 1e9));
      counts.put("relative_error_e12", e12(error.relative()));
      counts.put("largest_error_e12", e12(error.largest()));
      return error.isRounding(problem.problem().type())
          ? 0
          : Math.max(error.relative(), Double.MIN_NORMAL);
    }
  }

  /** Compares every value with what one process gives, too. */
  private double prove(Passes passes, Map<String, Long> counts) {
    AttentionShape shape = held.shards().shape();
    counts.put("scores", sum(passes, Count.SCORES));
    counts.put("dense_scores", shape.scores());
    counts.put("bytes_moved", sum(passes, Count.MOVED_BYTES));
    counts.put("scratch_bytes", sum(passes, Count.SCRATCH_BYTES));
    counts.put("sent_bytes", sum(passes, Count.SENT_BYTES));
    counts.put("predicted_bytes", predictedBytes());
    double error = check(provedRows(held.length()), counts);
    try (Arena arena = Arena.ofShared()) {
      AttentionOutputs whole = AttentionOutputs.allocate(arena, shape, problem.problem().type());
      reference.forward(held.inputs(), workbench, whole);
      OutputDifference difference = OutputDifference.of(whole, held.outputs());
      counts.put("values_compared", shape.queryValues());
      counts.put("relative_difference_e12", e12(difference.relative()));
      counts.put("largest_difference_e12", e12(difference.largest()));
      counts.put("bound_e12", e12(Oracle.bound(problem.problem().type())));
      return difference.isRounding(problem.problem().type())
          ? error
          : Math.max(difference.relative(), Double.MIN_NORMAL);
    }
  }

  /** Every block goes once to every rank but its own, each time with a header. */
  private long predictedBytes() {
    RankVariant variant = problem.ranks(held.length());
    long bytes = 0;
    for (int rank = 0; rank < problem.ranks(); rank++) {
      bytes += variant.blockBytes(rank, problem.problem().type()) + Link.headerBytes();
    }
    return (problem.ranks() - 1) * bytes;
  }

  private static long e12(double value) {
    return Math.round(value * 1e12);
  }

  private void forget() {
    if (held != null) {
      held.arena().close();
      held = null;
    }
  }

  @Override
  public void close() {
    forget();
    if (ranks != null) {
      ranks.close();
      ranks = null;
    }
    if (workbench != null) {
      workbench.close();
      workbench = null;
    }
  }
}
