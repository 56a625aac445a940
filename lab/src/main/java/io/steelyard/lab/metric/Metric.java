package io.steelyard.lab.metric;

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
        PeakMemory {

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

  /** The metrics that a study asks for, in its order. */
  static List<Metric> of(Study study) {
    Study.Shape shape = study.shape();
    Workload start = Workload.start(shape.prompt(), shape.generate(), shape.depth());
    return study.metrics().stream()
        .<Metric>map(
            name ->
                switch (name) {
                  case "prefill" ->
                      new PrefillThroughput(Workload.prefill(shape.prompt(), shape.depth()));
                  case "decode" ->
                      new DecodeThroughput(Workload.decode(shape.generate(), shape.depth()));
                  case "forward" ->
                      new ForwardThroughput(Workload.forward(shape.batch(), shape.prompt()));
                  case "coldstart" -> new ColdStart(start);
                  case "load" -> new LoadTime(start);
                  case "memory" -> new PeakMemory(start);
                  default -> throw new IllegalArgumentException("unknown metric " + name);
                })
        .toList();
  }
}
