package io.steelyard.engines.attention;

import io.steelyard.engines.CodeChecksum;
import io.steelyard.kernels.Kernels;
import io.steelyard.lab.benchmark.BenchmarkProtocol;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineInfo;
import io.steelyard.lab.worker.KernelEngine;
import io.steelyard.lab.worker.KernelRequest;
import io.steelyard.lab.worker.LoadReport;
import java.util.List;
import java.util.Map;

/** What the engines of attention share: what they are, and how much of a result is proved. */
abstract class AttentionKernelEngine extends KernelEngine {
  /** Of the random inputs. */
  static final long SEED = 20251127;

  /** Patterns that are kept for the next pass. */
  static final int PATTERNS = 1024;

  /** Rows of a head that are checked after a timed call. */
  static final int CHECKED_ROWS = 3;

  /** Up to this length a proof checks every row. */
  private static final int ALL_ROWS = 1024;

  private static final int PROVED_ROWS = 64;

  private final String name;

  AttentionKernelEngine(String name) {
    this.name = name;
  }

  /** Rows of a head that a proof checks. */
  static int provedRows(int length) {
    return length <= ALL_ROWS ? length : PROVED_ROWS;
  }

  /** How many passes a call is of: as many as it asks for, or as the load said. */
  static long operations(KernelRequest request, Map<String, String> options) {
    Long asked = request.shape().get(BenchmarkProtocol.OPERATIONS);
    return asked == null
        ? Long.parseLong(options.get(BenchmarkProtocol.operations(request.name())))
        : asked;
  }

  /** A load that began then, of an engine without weights. */
  static LoadReport loaded(long startNanos, int threads) {
    return new LoadReport(
        Map.of("load", System.nanoTime() - startNanos),
        Map.of(),
        List.of(),
        new LoadReport.Settings("", "", "", threads, "", 0, 0, false, 0, 0, 0));
  }

  @Override
  public final EngineInfo hello() throws EngineException {
    return new EngineInfo(
        name,
        Runtime.version().toString(),
        Kernels.describe(Kernels.best()),
        List.of(),
        List.of(),
        List.of("kernel"),
        false,
        CodeChecksum.of("", getClass(), Kernels.class));
  }
}
