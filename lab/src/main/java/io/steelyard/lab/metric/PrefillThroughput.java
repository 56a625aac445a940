package io.steelyard.lab.metric;

import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.study.Workload;
import io.steelyard.stats.Sample;
import java.util.List;

/** Prompt tokens a second: {@code ppP@D}. */
public record PrefillThroughput(Workload workload) implements Metric {
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
    return workload.prompt()
        + " prompt tokens ÷ time of processing them in one call with "
        + workload.depth()
        + " tokens in the cache; no tokenisation, no sampling";
  }

  @Override
  public Sample sample(List<ForkRecord> forks) {
    return Throughput.of(forks);
  }
}
