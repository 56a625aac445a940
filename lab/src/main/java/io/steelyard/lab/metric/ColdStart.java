package io.steelyard.lab.metric;

import io.steelyard.lab.run.Entry.Role;
import io.steelyard.lab.run.ForkRecord;
import io.steelyard.lab.study.Workload;
import io.steelyard.stats.Sample;
import java.util.List;

/** Process start until the first token. */
public record ColdStart(Workload workload) implements Metric {
  @Override
  public String name() {
    return "coldstart";
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
    return "process start → first token after a prompt of "
        + Workload.START_PROMPT
        + " tokens, page cache warm; an engine hosted in a runtime that its users don't need is judged"
        + " without that runtime's own start";
  }

  @Override
  public Sample sample(List<ForkRecord> forks) {
    return Sample.ofForks(forks.stream().mapToDouble(ColdStart::value).toArray());
  }

  private static double value(ForkRecord fork) {
    long nanos = fork.calls(Role.FIRST).getFirst().sinceStartNanos();
    return (fork.start().hosted() ? nanos - fork.start().runtimeNanos() : nanos) / 1e6;
  }
}
