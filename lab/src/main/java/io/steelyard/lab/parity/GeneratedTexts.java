package io.steelyard.lab.parity;

import io.steelyard.lab.parity.EngineParity.Output;
import io.steelyard.lab.record.Generated;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleBiFunction;

/** How alike the texts are that labels generated, and in how many passes they did. */
public final class GeneratedTexts {
  private GeneratedTexts() {}

  /** Of every decoding of every label; nothing where the label that is held against is missing. */
  public static List<Generated> of(Study study, Map<String, EngineParity> engines) {
    String against =
        study.baseline().isEmpty() ? study.engines().keySet().iterator().next() : study.baseline();
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
    boolean told = own.stream().allMatch(output -> output.passes().isPresent());
    long passes = own.stream().mapToLong(output -> output.passes().orElse(0)).sum();
    return new Generated(
        label,
        workload.name(),
        own.stream().mapToLong(output -> output.ids().length).sum(),
        told ? Optional.of(passes) : Optional.empty(),
        own.size(),
        mean(own, others, TextSimilarity::of),
        mean(own, others, TextSimilarity::agreed));
  }

  /** Mean over as many outputs of two labels. */
  static double mean(
      List<Output> own, List<Output> others, ToDoubleBiFunction<int[], int[]> likeness) {
    double sum = 0;
    for (int i = 0; i < own.size(); i++) {
      sum += likeness.applyAsDouble(own.get(i).ids(), others.get(i).ids());
    }
    return sum / own.size();
  }
}
