package io.steelyard.engines.benchmark;

import io.steelyard.engines.CodeChecksum;
import io.steelyard.lab.benchmark.Benchmark;
import io.steelyard.lab.benchmark.BenchmarkClass;
import io.steelyard.lab.benchmark.BenchmarkProtocol;
import io.steelyard.lab.benchmark.Benchmarks;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import io.steelyard.lab.worker.EngineInfo;
import io.steelyard.lab.worker.KernelEngine;
import io.steelyard.lab.worker.KernelReport;
import io.steelyard.lab.worker.KernelRequest;
import io.steelyard.lab.worker.LoadReport;
import io.steelyard.lab.worker.LoadRequest;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * One variant of one benchmark of the user's. A {@code load} names it; a {@code kernel} call, by
 * the name of a workload, times a batch of its operations and checks the last result: against the
 * baseline's where the shape holds {@code prove}, else against the process's own first one, so that
 * the baseline's code doesn't disturb what is timed.
 */
final class BenchmarkEngine extends KernelEngine {
  private static final VarHandle INPUT = handle("input");
  private static final VarHandle RESULT = handle("result");

  private final String classPath;
  private Map<String, String> options = Map.of();
  private Benchmark<?, ?> benchmark;
  private Benchmark.Variant<Object, Object> variant;
  private final Map<String, Object> inputs = new HashMap<>();
  private final Map<String, Object> firstResults = new HashMap<>();

  /** Read and written so that the compiler must not leave anything out. */
  @SuppressWarnings("unused")
  private Object input;

  @SuppressWarnings("unused")
  private Object result;

  BenchmarkEngine(String classPath) {
    this.classPath = classPath;
  }

  private static VarHandle handle(String field) {
    try {
      return MethodHandles.lookup().findVarHandle(BenchmarkEngine.class, field, Object.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  @Override
  public EngineInfo hello() throws EngineException {
    String code =
        CodeChecksum.of(classPath, BenchmarkClass.places(classPath), Benchmarks.class, getClass());
    return new EngineInfo(
        BenchmarkProtocol.ENGINE,
        Runtime.version().toString(),
        System.getProperty("java.vm.name"),
        List.of(),
        List.of(),
        List.of("kernel"),
        false,
        code);
  }

  @Override
  @SuppressWarnings("unchecked") // a benchmark's operations take what its own workloads give
  public LoadReport load(LoadRequest request) throws EngineException {
    options = Map.copyOf(request.options());
    long start = System.nanoTime();
    benchmark =
        BenchmarkClass.load(classPath, options.get(BenchmarkProtocol.CLASS)).stream()
            .filter(one -> one.name().equals(options.get(BenchmarkProtocol.BENCHMARK)))
            .findFirst()
            .orElseThrow(() -> gone("benchmark", options.get(BenchmarkProtocol.BENCHMARK)));
    variant =
        (Benchmark.Variant<Object, Object>)
            benchmark.variants().get(options.get(BenchmarkProtocol.VARIANT));
    if (variant == null) {
      throw gone("variant", options.get(BenchmarkProtocol.VARIANT));
    }
    return new LoadReport(
        Map.of("load", System.nanoTime() - start),
        Map.of(),
        List.of(),
        new LoadReport.Settings("", "", "", request.threads(), "", 0, 0, false, 0, 0, 0));
  }

  private EngineException gone(String what, String name) {
    return new EngineException(
        Kind.BAD_REQUEST,
        "%s has no %s '%s' now: begin a new run"
            .formatted(options.get(BenchmarkProtocol.CLASS), what, name));
  }

  @Override
  public KernelReport kernel(KernelRequest request) throws EngineException {
    String workload = request.name();
    input = input(workload);
    Long asked = request.shape().get(BenchmarkProtocol.OPERATIONS);
    long operations =
        asked == null ? Long.parseLong(options.get(BenchmarkProtocol.operations(workload))) : asked;
    long nanos = time(operations, workload);
    Object last = result;
    Object expected =
        request.shape().containsKey(BenchmarkProtocol.PROVE)
            ? baselineResult(workload)
            : firstResults.computeIfAbsent(workload, _ -> last);
    return new KernelReport(nanos, agrees(workload, expected, last) ? 0 : 1);
  }

  private Object input(String workload) throws EngineException {
    Supplier<?> source = benchmark.workloads().get(workload);
    if (source == null) {
      throw gone("workload", workload);
    }
    if (!inputs.containsKey(workload)) {
      inputs.put(workload, guarded("the input of " + workload, source::get));
    }
    return inputs.get(workload);
  }

  private long time(long operations, String workload) throws EngineException {
    return guarded(
        options.get(BenchmarkProtocol.VARIANT) + " on " + workload,
        () -> {
          long start = System.nanoTime();
          for (long i = 0; i < operations; i++) {
            RESULT.setOpaque(this, variant.operation().apply(INPUT.getOpaque(this)));
          }
          return System.nanoTime() - start;
        });
  }

  @SuppressWarnings("unchecked") // as in load
  private Object baselineResult(String workload) throws EngineException {
    var baseline =
        (Benchmark.Variant<Object, Object>) benchmark.variants().get(benchmark.baseline());
    return guarded(
        benchmark.baseline() + " on " + workload, () -> baseline.operation().apply(input));
  }

  private boolean agrees(String workload, Object expected, Object last) throws EngineException {
    return guarded(
        "the check of %s on %s".formatted(options.get(BenchmarkProtocol.VARIANT), workload),
        () -> variant.check().test(expected, last));
  }

  /** The user's own code: whatever it throws is told by its place. */
  private static <T> T guarded(String what, Supplier<T> code) throws EngineException {
    try {
      return code.get();
    } catch (RuntimeException | StackOverflowError | OutOfMemoryError | LinkageError e) {
      StackTraceElement[] trace = e.getStackTrace();
      throw new EngineException(
          Kind.FAILED,
          "%s threw %s%s".formatted(what, e, trace.length == 0 ? "" : " at " + trace[0]),
          e);
    }
  }

  @Override
  public void close() {
    inputs.clear();
  }
}
