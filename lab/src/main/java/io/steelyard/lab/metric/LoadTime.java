package io.steelyard.lab.metric;

import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.stats.Sample;
import java.util.List;

/** Time of loading a model into a process that is ready for it. */
public record LoadTime(Workload workload) implements Metric {
  @Override
  public String name() {
    return workload.isFromDisk() ? Study.FROM_DISK : "load";
  }

  @Override
  public String unit() {
    return "ms";
  }

  @Override
  public boolean higherIsBetter() {
    return false;
  }

  @Override
  public String formula() {
    return "the load call by the engine's own clock, page cache "
        + (workload.isFromDisk() ? "without the model's files" : "warm");
  }

  @Override
  public Sample sample(List<ForkRecord> forks) {
    return Sample.ofForks(forks.stream().mapToDouble(LoadTime::value).toArray());
  }

  private static double value(ForkRecord fork) {
    return fork.start().loadNanos() / 1e6;
  }
}
