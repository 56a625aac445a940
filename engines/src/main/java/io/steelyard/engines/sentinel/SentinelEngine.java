package io.steelyard.engines.sentinel;

import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import io.steelyard.lab.worker.EngineInfo;
import io.steelyard.lab.worker.KernelEngine;
import io.steelyard.lab.worker.KernelReport;
import io.steelyard.lab.worker.KernelRequest;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Serves {@code kernel} for {@code compute} and {@code bandwidth} alone. The shape may hold {@code
 * threads} (default: as many as the worker may use) and {@code repetitions} (default {@value
 * #REPETITIONS}); the time is the fastest repetition's, since whatever disturbs only adds time.
 */
final class SentinelEngine extends KernelEngine {
  private static final int REPETITIONS = 9;
  private static final int MAX_THREADS = 1_024;
  private static final int MAX_REPETITIONS = 10_000;

  /** The fixed works, by name on the wire. */
  enum Work {
    COMPUTE,
    BANDWIDTH;

    static Work of(String name) throws EngineException {
      for (Work work : values()) {
        if (work.name().toLowerCase(Locale.ROOT).equals(name)) {
          return work;
        }
      }
      throw new EngineException(
          Kind.UNSUPPORTED, "the sentinel has compute and bandwidth, no kernel '" + name + "'");
    }
  }

  private final Map<Work, FixedWork> warm = new EnumMap<>(Work.class);

  @Override
  public EngineInfo hello() {
    return new EngineInfo(
        "sentinel", "1", "jvm", List.of(), List.of(), List.of("kernel"), false, "1");
  }

  @Override
  public KernelReport kernel(KernelRequest request) throws EngineException {
    Work work = Work.of(request.name());
    int threads =
        option(request, "threads", Runtime.getRuntime().availableProcessors(), MAX_THREADS);
    int repetitions = option(request, "repetitions", REPETITIONS, MAX_REPETITIONS);
    FixedWork fixed = warm.get(work);
    if (fixed == null || fixed.threads() != threads) {
      if (fixed != null) {
        fixed.close();
      }
      fixed = FixedWork.warm(work, threads);
      warm.put(work, fixed);
    }
    long best = Long.MAX_VALUE;
    for (int i = 0; i < repetitions; i++) {
      best = Math.min(best, fixed.time());
    }
    return new KernelReport(best, 0);
  }

  private static int option(KernelRequest request, String name, int otherwise, int most)
      throws EngineException {
    long value = request.shape().getOrDefault(name, (long) otherwise);
    if (value < 1 || value > most) {
      throw new EngineException(
          Kind.BAD_REQUEST, name + " is " + value + ", must be from 1 to " + most);
    }
    return (int) value;
  }

  @Override
  public void close() {
    warm.values().forEach(FixedWork::close);
    warm.clear();
  }
}
