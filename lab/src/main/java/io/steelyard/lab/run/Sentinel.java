package io.steelyard.lab.run;

import io.steelyard.lab.record.Entry;
import io.steelyard.lab.worker.KernelRequest;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.lab.worker.WorkerProcess;
import io.steelyard.lab.worker.Workers;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Watches whether the machine is still the one that the run began on: a fixed amount of computing
 * and of memory traffic, timed by a small worker of its own before each block. The worker is kept,
 * and stopped in between: to start it and warm it up takes longer than a reading.
 */
final class Sentinel implements AutoCloseable {
  /** A block is disturbed where a sentinel time is further than this from the run's median. */
  static final double TOLERANCE = 0.05;

  /** A block is disturbed where the hypervisor took more than this share of processor time. */
  static final double STOLEN = 0.01;

  /** With fewer times than this there is no median to speak of. */
  static final int LEAST = 3;

  private static final String ENGINE = "sentinel";

  private static final long COMPUTE_REPETITIONS = 10;

  /**
   * The fastest of so many: on shared machines a few can all be unlucky with the memory's speed.
   */
  private static final long BANDWIDTH_REPETITIONS = 30;

  private final Workers workers;
  private WorkerProcess worker;

  Sentinel(Workers workers) {
    this.workers = workers;
  }

  /**
   * What the sentinel saw.
   *
   * @param computeNanos time of its compute kernel
   * @param bandwidthNanos time of its bandwidth kernel
   */
  record Reading(long computeNanos, long bandwidthNanos) {}

  /** Reads it. A worker that was lost since the last time is replaced. */
  Reading read() throws WorkerException {
    if (worker != null) {
      try {
        return readAgain();
      } catch (WorkerException e) {
        close();
      }
    }
    worker = workers.start("sentinel", ENGINE, Map.of());
    return readAgain();
  }

  private Reading readAgain() throws WorkerException {
    worker.resume();
    Reading reading =
        new Reading(time("compute", COMPUTE_REPETITIONS), time("bandwidth", BANDWIDTH_REPETITIONS));
    worker.pause();
    return reading;
  }

  private long time(String kernel, long repetitions) throws WorkerException {
    return worker
        .kernel(new KernelRequest(kernel, Map.of("repetitions", repetitions), 1))
        .value()
        .nanos();
  }

  @Override
  public void close() {
    if (worker != null) {
      worker.close();
      worker = null;
    }
  }

  /** Why a block is disturbed; empty where it is not. */
  static String judge(Entry.BlockStart block, List<Entry.BlockStart> all, double stolenShare) {
    if (stolenShare > STOLEN) {
      return "the hypervisor took %.1f %% of processor time".formatted(100 * stolenShare);
    }
    if (all.size() < LEAST) {
      return "";
    }
    double compute =
        block.computeNanos()
            / median(all.stream().mapToLong(Entry.BlockStart::computeNanos).toArray());
    double bandwidth =
        block.bandwidthNanos()
            / median(all.stream().mapToLong(Entry.BlockStart::bandwidthNanos).toArray());
    if (Math.abs(compute - 1) > TOLERANCE) {
      return "the sentinel's compute kernel took %.2f times its median".formatted(compute);
    }
    if (Math.abs(bandwidth - 1) > TOLERANCE) {
      return "the sentinel's bandwidth kernel took %.2f times its median".formatted(bandwidth);
    }
    return "";
  }

  private static double median(long[] values) {
    Arrays.sort(values);
    int middle = values.length / 2;
    return values.length % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2.0;
  }
}
