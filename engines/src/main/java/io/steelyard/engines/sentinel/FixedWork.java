package io.steelyard.engines.sentinel;

import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.EngineException.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * The same work on each of several threads, its code compiled and its memory touched beforehand. A
 * time is from the moment when all threads are ready until the last one is done, and the result is
 * compared with the first one, so that a compiler can't leave the work out.
 */
final class FixedWork implements AutoCloseable {
  /** Dependent steps of four chains: about 13 ms on a processor of 3.7 GHz. */
  private static final int STEPS = 12_000_000;

  /**
   * Longs read by all threads together: 128 MiB, several times the usual last-level cache's share.
   */
  private static final int LONGS = 16 << 20;

  /** How often the buffer is read in one repetition. */
  private static final int PASSES = 2;

  /** Runs before the first time is taken: on-stack replacement first, then the whole method. */
  private static final int WARM_UP = 6;

  private final ExecutorService executor;
  private final List<Task> tasks = new ArrayList<>();
  private final long expected;

  /** One thread's share: gives its end time and result. */
  private record Task(CyclicBarrier ready, Callable<Long> work, long[] span)
      implements Callable<Long> {
    @Override
    public Long call() throws Exception {
      ready.await();
      span[0] = System.nanoTime();
      long result = work.call();
      span[1] = System.nanoTime();
      return result;
    }
  }

  private FixedWork(SentinelEngine.Work work, int threads) throws EngineException {
    executor = Executors.newFixedThreadPool(threads, Thread.ofPlatform().daemon().factory());
    CyclicBarrier ready = new CyclicBarrier(threads);
    for (int thread = 0; thread < threads; thread++) {
      tasks.add(new Task(ready, share(work, threads), new long[2]));
    }
    expected = run();
  }

  /** Prepares the work so that its first timed repetition is like all others. */
  static FixedWork warm(SentinelEngine.Work work, int threads) throws EngineException {
    FixedWork fixed = new FixedWork(work, threads);
    for (int i = 0; i < WARM_UP; i++) {
      fixed.time();
    }
    return fixed;
  }

  int threads() {
    return tasks.size();
  }

  /** Does the work once. */
  long time() throws EngineException {
    if (run() != expected) {
      throw new EngineException(
          Kind.FAILED, "fixed work gave two results: this machine computes wrongly");
    }
    long start = Long.MAX_VALUE;
    long end = Long.MIN_VALUE;
    for (Task task : tasks) {
      start = Math.min(start, task.span[0]);
      end = Math.max(end, task.span[1]);
    }
    return end - start;
  }

  private long run() throws EngineException {
    try {
      long sum = 0;
      for (Future<Long> result : executor.invokeAll(tasks)) {
        sum += result.get();
      }
      return sum;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new EngineException(Kind.FAILED, "the sentinel was interrupted", e);
    } catch (ExecutionException e) {
      throw new EngineException(Kind.FAILED, "the sentinel's work failed: " + e.getCause(), e);
    }
  }

  private static Callable<Long> share(SentinelEngine.Work work, int threads) {
    return switch (work) {
      case COMPUTE -> () -> compute(STEPS);
      case BANDWIDTH -> {
        long[] buffer = new long[LONGS / threads];
        for (int i = 0; i < buffer.length; i++) {
          buffer[i] = i * 0x9E3779B97F4A7C15L;
        }
        yield () -> {
          long sum = 0;
          for (int pass = 0; pass < PASSES; pass++) {
            sum += sum(buffer);
          }
          return sum;
        };
      }
    };
  }

  /**
   * Four chains, each step waiting for the one before: latency-bound, so no other code can help.
   */
  private static long compute(int steps) {
    double a = 1.0;
    double b = 1.1;
    double c = 1.2;
    double d = 1.3;
    for (int i = 0; i < steps; i++) {
      a = Math.fma(a, 0.999_999, 0.000_001);
      b = Math.fma(b, 0.999_998, 0.000_002);
      c = Math.fma(c, 0.999_997, 0.000_003);
      d = Math.fma(d, 0.999_996, 0.000_004);
    }
    return Double.doubleToRawLongBits(a + b + c + d);
  }

  /** Four independent sums, so that memory and not the addition is what one waits for. */
  private static long sum(long[] buffer) {
    long a = 0;
    long b = 0;
    long c = 0;
    long d = 0;
    for (int i = 0; i + 3 < buffer.length; i += 4) {
      a += buffer[i];
      b += buffer[i + 1];
      c += buffer[i + 2];
      d += buffer[i + 3];
    }
    return a + b + c + d;
  }

  @Override
  public void close() {
    executor.shutdownNow();
  }
}
