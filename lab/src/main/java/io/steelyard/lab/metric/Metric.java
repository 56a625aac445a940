package io.steelyard.lab.metric;

import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Entry.Role;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.stats.Sample;
import java.util.List;

/** A figure that a cell yields, by one definition. */
public sealed interface Metric
    permits PrefillThroughput,
        DecodeThroughput,
        ForwardThroughput,
        ColdStart,
        LoadTime,
        PeakMemory,
        CommandTime,
        OperationTime {

  /** The name in tables and records: {@code pp512@d4096}, {@code coldstart}. */
  String name();

  /** The unit of its values: {@code tok/s}, {@code ms}, {@code MB}. */
  String unit();

  boolean higherIsBetter();

  /** The definition in words, printed in every report. */
  String formula();

  /** The workload whose processes yield it. */
  Workload workload();

  /** The values of some processes: one a trial, or a single one where the process is the trial. */
  Sample sample(List<ForkRecord> forks);

  /** The value of a single call, whatever it was for; of a metric that has one a trial. */
  default double of(Entry.Call call) {
    return sample(List.of(new ForkRecord(null, List.of(call.as(Role.TRIAL)), null))).mean();
  }

  /** The metrics that a study asks for, in its order. */
  static List<Metric> of(Study study) {
    return study.metrics().stream().map(name -> of(name, study.shape().workload(name))).toList();
  }

  private static Metric of(String name, Workload workload) {
    if (workload.kind() == Workload.Kind.OPERATION) {
      return new OperationTime(workload);
    }
    if (workload.kind() == Workload.Kind.FORWARD) {
      return new ForwardThroughput(workload);
    }
    return switch (name) {
      case "prefill" -> new PrefillThroughput(workload);
      case "decode" -> new DecodeThroughput(workload);
      case "coldstart" -> new ColdStart(workload);
      case "load", Study.FROM_DISK -> new LoadTime(workload);
      case "memory" -> new PeakMemory(workload);
      case "time" -> new CommandTime(workload);
      default -> throw new IllegalArgumentException("unknown metric " + name);
    };
  }
}
