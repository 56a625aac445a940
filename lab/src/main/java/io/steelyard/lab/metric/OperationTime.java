package io.steelyard.lab.metric;

import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.study.Workload;
import io.steelyard.stats.Sample;
import java.util.List;

/** Time of one operation of a benchmark of the user's. */
public record OperationTime(Workload workload) implements Metric {
  @Override
  public String name() {
    return workload.name();
  }

  @Override
  public String unit() {
    return "ns";
  }

  @Override
  public boolean higherIsBetter() {
    return false;
  }

  @Override
  public String formula() {
    return "time of a call's operations one after the other ÷ their number";
  }

  @Override
  public Sample sample(List<ForkRecord> forks) {
    return Sample.of(Trials.of(forks, call -> (double) call.nanos() / call.tokens()));
  }
}
