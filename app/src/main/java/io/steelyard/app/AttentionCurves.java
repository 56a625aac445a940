package io.steelyard.app;

import io.steelyard.engines.attention.AttentionProblem;
import io.steelyard.lab.metric.Metric;
import io.steelyard.lab.record.Blocks;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.run.BenchmarkRun;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * What a run measured of variants of attention, by length and block: as much of it as there is.
 *
 * @param title what was measured on what
 * @param baseline the variant that the others are held against; empty where none is
 * @param seed of resampling
 */
record AttentionCurves(String title, String baseline, long seed, List<Curve> curves) {
  /**
   * One variant.
   *
   * @param nanos of a pass, by length and block
   * @param scratchBytes the most scratch memory of a pass, by length, where it was counted
   * @param speedups over the baseline by length, where the run has judged them
   */
  record Curve(
      String variant,
      NavigableMap<Integer, NavigableMap<Integer, Double>> nanos,
      Map<Integer, Double> scratchBytes,
      Map<Integer, AttentionGrowth.Estimate> speedups) {
    static Curve of(String variant) {
      return new Curve(variant, new TreeMap<>(), new TreeMap<>(), new TreeMap<>());
    }

    double meanNanos(int length) {
      return nanos.get(length).values().stream().mapToDouble(v -> v).average().orElseThrow();
    }

    void add(int length, int block, double value) {
      nanos.computeIfAbsent(length, _ -> new TreeMap<>()).put(block, value);
    }
  }

  AttentionCurves {
    curves = curves.stream().filter(curve -> !curve.nanos().isEmpty()).toList();
  }

  /** Whether a study is one of attention. */
  static boolean isOf(Study study) {
    return study.engines().values().stream()
        .anyMatch(engine -> engine.name().equals(AttentionProblem.ENGINE));
  }

  /** What the blocks of a run hold, be they all or not. */
  static AttentionCurves of(RunDirectory directory, Blocks blocks) {
    Study study = directory.plan();
    Map<?, ?> counts =
        Files.exists(directory.path().resolve(BenchmarkRun.COUNTS))
            ? directory.read(BenchmarkRun.COUNTS, Map.class)
            : Map.of();
    List<Curve> curves = new ArrayList<>();
    for (String label : study.engines().keySet()) {
      Curve curve = Curve.of(label);
      for (Metric metric : Metric.of(study)) {
        int length = AttentionProblem.length(metric.workload().title());
        for (Map.Entry<Integer, ForkRecord> fork :
            blocks.sound(new Cell(label, metric.workload())).entrySet()) {
          curve.add(length, fork.getKey(), metric.sample(List.of(fork.getValue())).mean());
        }
        if (counts.get(label) instanceof Map<?, ?> ofLabel
            && ofLabel.get(metric.workload().title()) instanceof Map<?, ?> ofCell
            && ofCell.get("scratch_bytes") instanceof Number bytes) {
          curve.scratchBytes().put(length, bytes.doubleValue());
        }
      }
      curves.add(curve);
    }
    return new AttentionCurves(
        study.model().name(), study.baseline(), study.design().seed(), curves);
  }
}
