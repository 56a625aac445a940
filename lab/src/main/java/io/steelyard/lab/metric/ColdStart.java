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
    return "process start → ready, load, and first token after a prompt of "
        + Workload.START_PROMPT
        + " tokens, page cache warm; an engine hosted in a runtime that its users don't need is judged"
        + " without that runtime's own start";
  }

  @Override
  public Sample sample(List<ForkRecord> forks) {
    return Sample.ofForks(forks.stream().mapToDouble(ColdStart::value).toArray());
  }

  private static double value(ForkRecord fork) {
    // The sum of its parts, not the time that passed: between them the lab writes to its journal.
    long nanos = fork.start().loadOutsideNanos() + fork.calls(Role.FIRST).getFirst().outsideNanos();
    return (fork.start().hosted() ? nanos : nanos + fork.start().runtimeNanos()) / 1e6;
  }
}
