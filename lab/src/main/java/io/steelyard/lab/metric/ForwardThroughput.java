package io.steelyard.lab.metric;

import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.study.Workload;
import io.steelyard.stats.Sample;
import java.util.List;

/** Tokens a second of a batched forward pass: {@code fwBxL}. */
public record ForwardThroughput(Workload workload) implements Metric {
  @Override
  public String name() {
    return workload.name();
  }

  @Override
  public String unit() {
    return "tok/s";
  }

  @Override
  public boolean higherIsBetter() {
    return true;
  }

  @Override
  public String formula() {
    return workload.batch()
        + " sequences × "
        + workload.prompt()
        + " tokens ÷ time of one forward pass that yields the logits of every position";
  }

  @Override
  public Sample sample(List<ForkRecord> forks) {
    return Throughput.of(forks);
  }
}
