package io.steelyard.lab.metric;

import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.study.Workload;
import io.steelyard.stats.Sample;
import java.util.List;

/** Time of a whole command. */
public record CommandTime(Workload workload) implements Metric {
  @Override
  public String name() {
    return "time";
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
    return "start of the process → its end, shell included";
  }

  @Override
  public Sample sample(List<ForkRecord> forks) {
    return Sample.of(Trials.of(forks, call -> call.nanos() / 1e6));
  }
}
