package io.steelyard.lab.metric;

import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Entry.Role;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.study.Workload;
import io.steelyard.stats.Sample;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Process start until the first token. */
public record ColdStart(Workload workload) implements Metric {
  /** The part of {@link #parts} that is neither the runtime's start nor the engine's own work. */
  public static final String AROUND = "around the calls";

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
        + " tokens, page cache warm; an engine hosted in a runtime that its users don't need is judged by"
        + " its own clocks, load + first token, without that runtime and the lab's code in it";
  }

  @Override
  public Sample sample(List<ForkRecord> forks) {
    return Sample.ofForks(forks.stream().mapToDouble(fork -> judgedNanos(fork) / 1e6).toArray());
  }

  /**
   * The time that the metric counts. For a hosted engine the coordinator's clock would also count
   * the first use of classes and interpreted Java around the engine, which is none of its own.
   */
  public static double judgedNanos(ForkRecord fork) {
    return fork.start().hosted()
        ? (double) fork.start().loadNanos() + first(fork).nanos()
        : wholeNanos(fork);
  }

  /**
   * Process start until the first token as the coordinator saw it, runtime included: the sum of its
   * parts, not the time that passed, since between them the lab writes to its journal.
   */
  public static double wholeNanos(ForkRecord fork) {
    return (double) fork.start().runtimeNanos()
        + fork.start().loadOutsideNanos()
        + first(fork).outsideNanos();
  }

  /**
   * What the whole consists of, in nanoseconds and in order: the runtime, the phases of the load
   * and the first prefill by the engine's own clock, and what the coordinator saw around those
   * calls.
   */
  public static Map<String, Double> parts(ForkRecord fork) {
    Map<String, Double> parts = new LinkedHashMap<>();
    parts.put("runtime", (double) fork.start().runtimeNanos());
    fork.start().phases().forEach((phase, nanos) -> parts.put(phase, (double) nanos));
    parts.put("prefill", (double) first(fork).nanos());
    double named = parts.values().stream().mapToDouble(Double::doubleValue).sum();
    parts.put(AROUND, wholeNanos(fork) - named);
    return parts;
  }

  private static Entry.Call first(ForkRecord fork) {
    return fork.calls(Role.FIRST).getFirst();
  }
}
