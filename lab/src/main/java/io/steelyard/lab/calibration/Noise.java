package io.steelyard.lab.calibration;

import io.steelyard.lab.metric.Metric;
import io.steelyard.lab.record.Blocks;
import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.stats.DetectableChange;
import io.steelyard.stats.FamilyVerdicts;
import io.steelyard.stats.Intervals;
import io.steelyard.stats.Sample;
import io.steelyard.stats.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * How a metric of an engine compares with itself, by blocks of the same engine under two labels:
 * whatever they differ by is the machine's.
 *
 * @param metric such as {@code tg64}
 * @param blocks blocks that were measured
 * @param deviation standard deviation of a block's logarithmic ratio
 * @param blockSeconds what a block of this metric takes
 * @param pairs comparisons of three blocks each, judged as a quick run judges them
 * @param falseAlarms pairs of them that were called faster or slower
 */
public record Noise(
    String metric, int blocks, double deviation, double blockSeconds, int pairs, int falseAlarms) {
  /** How sure a change is to be found that counts as detectable. */
  public static final double POWER = 0.95;

  /**
   * Reads it from a run.
   *
   * @param study of two labels of one engine, the first of them the baseline
   * @return one a metric; none where fewer than two blocks are sound
   */
  public static List<Noise> of(Study study, Blocks blocks) {
    List<Metric> metrics = Metric.of(study);
    List<Pairs> pairs = metrics.stream().map(metric -> Pairs.of(study, metric, blocks)).toList();
    int[] judged = new int[metrics.size()];
    int[] alarms = new int[metrics.size()];
    int most = pairs.stream().mapToInt(Pairs::blocks).max().orElse(0);
    for (int from = 0; from + Study.Design.LEAST_FORKS <= most; from += Study.Design.LEAST_FORKS) {
      int end = from + Study.Design.LEAST_FORKS;
      int first = from;
      List<Verdict> verdicts =
          FamilyVerdicts.of(
              pairs.stream().map(pair -> pair.ratio(first, end, study.design().seed())).toList(),
              study.design().margin());
      for (int i = 0; i < verdicts.size(); i++) {
        if (end <= pairs.get(i).blocks()) {
          judged[i]++;
          alarms[i] +=
              verdicts.get(i) == Verdict.FASTER || verdicts.get(i) == Verdict.SLOWER ? 1 : 0;
        }
      }
    }
    List<Noise> noise = new ArrayList<>();
    for (int i = 0; i < metrics.size(); i++) {
      Pairs pair = pairs.get(i);
      if (pair.blocks() >= 2) {
        noise.add(
            new Noise(
                metrics.get(i).name(),
                pair.blocks(),
                pair.deviation(),
                pair.seconds() / pair.blocks(),
                judged[i],
                alarms[i]));
      }
    }
    return noise;
  }

  /**
   * The smallest change that a run of this time finds, by a single look.
   *
   * @return such as 0.04 for 4 %; empty where the time is too short for any verdict
   */
  public OptionalDouble detectable(double seconds, double margin) {
    OptionalDouble ratio =
        DetectableChange.ratio(
            deviation, (int) (seconds / blockSeconds), margin, FamilyVerdicts.LEVEL, POWER);
    return ratio.isPresent() ? OptionalDouble.of(ratio.getAsDouble() - 1) : ratio;
  }

  /** Both labels' processes of a metric, block by block. */
  private record Pairs(Metric metric, List<ForkRecord> own, List<ForkRecord> other) {
    static Pairs of(Study study, Metric metric, Blocks blocks) {
      String label =
          study.engines().keySet().stream()
              .filter(each -> !each.equals(study.baseline()))
              .findFirst()
              .orElseThrow();
      Blocks.Pairs pairs =
          blocks.pairs(
              new Cell(label, metric.workload()), new Cell(study.baseline(), metric.workload()));
      return new Pairs(metric, pairs.subject(), pairs.baseline());
    }

    int blocks() {
      return own.size();
    }

    FamilyVerdicts.Ratio ratio(int from, int to, long seed) {
      if (to > blocks()) {
        return _ -> Optional.empty();
      }
      Sample a = metric.sample(own.subList(from, to));
      Sample b = metric.sample(other.subList(from, to));
      return level -> Intervals.ratio(a, b, metric.higherIsBetter(), level, seed);
    }

    double deviation() {
      return metric.sample(own).deviationOfRatios(metric.sample(other));
    }

    double seconds() {
      double nanos = 0;
      for (List<ForkRecord> side : List.of(own, other)) {
        for (ForkRecord fork : side) {
          nanos += fork.start().runtimeNanos() + fork.start().loadOutsideNanos();
          nanos += fork.calls().stream().mapToLong(Entry.Call::outsideNanos).sum();
        }
      }
      return nanos / 1e9;
    }
  }
}
