package io.steelyard.lab.metric;

import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.study.Workload;
import io.steelyard.stats.Sample;
import java.util.List;

/** Generated tokens a second: {@code tgN@D}. */
public record DecodeThroughput(Workload workload) implements Metric {
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
    return workload.generate()
        + " tokens ÷ time of generating them one by one after "
        + Math.max(workload.depth(), Workload.DECODE_PROMPT)
        + " prompt tokens (the last of which is the first input), greedy sampling included, length"
        + " forced";
  }

  @Override
  public Sample sample(List<ForkRecord> forks) {
    return Throughput.of(forks);
  }
}
