package io.steelyard.lab.metric;

import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.study.Workload;
import io.steelyard.stats.Sample;
import java.util.List;

/** Largest resident memory of the process. */
public record PeakMemory(Workload workload) implements Metric {
  @Override
  public String name() {
    return "memory";
  }

  @Override
  public String unit() {
    return "MB";
  }

  @Override
  public boolean higherIsBetter() {
    return false;
  }

  @Override
  public String formula() {
    return "largest resident set of the process over load, first token, one prompt of "
        + workload.prompt()
        + " and one generation of "
        + workload.generate()
        + " tokens; an engine hosted in a runtime that its users don't need is judged without what was"
        + " resident before the load";
  }

  @Override
  public Sample sample(List<ForkRecord> forks) {
    return Sample.ofForks(forks.stream().mapToDouble(fork -> judgedBytes(fork) / 1e6).toArray());
  }

  /** The bytes that the metric counts; the whole is {@link Entry.ForkEnd#peakBytes}. */
  public static double judgedBytes(ForkRecord fork) {
    return judged(fork, fork.end().peakBytes());
  }

  /** Of a process's bytes those that an engine is judged by: without a runtime that hosts it. */
  public static double judged(ForkRecord fork, long bytes) {
    return fork.start().hosted() ? bytes - fork.start().readyBytes() : bytes;
  }
}
