package io.steelyard.lab.parity;

import io.steelyard.lab.parity.EngineParity.Output;
import io.steelyard.lab.record.Generated;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** How alike the texts are that labels generated, and in how many passes they did. */
public final class GeneratedTexts {
  private GeneratedTexts() {}

  /** Of every decoding of every label; nothing where the label that is held against is missing. */
  public static List<Generated> of(Study study, Map<String, EngineParity> engines) {
    String against =
        study.baseline().isEmpty()
            ? study.engines().keySet().iterator().next()
            : study.baseline();
    EngineParity base = engines.get(against);
    List<Generated> generated = new ArrayList<>();
    if (base != null) {
      for (Workload workload : study.workloads()) {
        if (workload.kind() == Workload.Kind.DECODE) {
          for (EngineParity engine : engines.values()) {
            List<Output> own = engine.outputs().getOrDefault(workload.name(), List.of());
            List<Output> others = base.outputs().getOrDefault(workload.name(), List.of());
            if (!own.isEmpty() && own.size() == others.size()) {
              generated.add(of(engine.label(), workload, own, others));
            }
          }
        }
      }
    }
    return generated;
  }

  private static Generated of(
      String label, Workload workload, List<Output> own, List<Output> others) {
    double similarity = 0;
    double agreed = 0;
    long tokens = 0;
    long passes = 0;
    for (int i = 0; i < own.size(); i++) {
      int[] ids = own.get(i).ids();
      similarity += TextSimilarity.of(ids, others.get(i).ids()) / own.size();
      agreed += TextSimilarity.agreed(ids, others.get(i).ids()) / own.size();
      tokens += ids.length;
      passes += own.get(i).passes().orElse(0);
    }
    boolean told = own.stream().allMatch(output -> output.passes().isPresent());
    return new Generated(
        label,
        workload.name(),
        tokens,
        told ? Optional.of(passes) : Optional.empty(),
        own.size(),
        similarity,
        agreed);
  }
}
