package io.steelyard.app;

import io.steelyard.lab.metric.Metric;
import io.steelyard.lab.record.Blocks;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.reports.DetailTable;
import io.steelyard.reports.terminal.Format;
import io.steelyard.stats.CohensD;
import io.steelyard.stats.Holm;
import io.steelyard.stats.MannWhitney;
import io.steelyard.stats.MinimumForks;
import io.steelyard.stats.PairedPermutation;
import io.steelyard.stats.Sample;
import io.steelyard.stats.Welch;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * What the usual tests say of each difference, beside the verdicts, which don't rest on them. Fork
 * means in logarithms are tested, so that an engine and another are treated alike.
 */
final class DifferenceTests {
  private static final double ALPHA = 0.05;
  private static final String NONE = "–";

  /** Logarithms of both sides' fork means, block by block. */
  private record Pair(String name, double[] subject, double[] baseline) {
    int blocks() {
      return subject.length;
    }
  }

  private DifferenceTests() {}

  /** The table; empty where nothing was compared. */
  static Optional<DetailTable> of(Study study, Blocks blocks) {
    List<Pair> pairs = pairs(study, blocks);
    if (pairs.isEmpty()) {
      return Optional.empty();
    }
    List<String> welch =
        column(pairs, 2, p -> Welch.of(p.subject(), p.baseline()).map(Welch::pValue));
    List<String> ranks =
        column(
            pairs,
            MinimumForks.forMannWhitney(ALPHA),
            p -> MannWhitney.of(p.subject(), p.baseline()).map(MannWhitney::pValue));
    List<String> signs =
        column(
            pairs,
            MinimumForks.forLevel(ALPHA),
            p ->
                PairedPermutation.of(p.subject(), p.baseline(), study.design().seed())
                    .map(PairedPermutation::pValue));
    List<List<String>> rows =
        IntStream.range(0, pairs.size())
            .mapToObj(
                i ->
                    List.of(
                        pairs.get(i).name(),
                        Integer.toString(pairs.get(i).blocks()),
                        welch.get(i),
                        ranks.get(i),
                        signs.get(i),
                        effect(pairs.get(i))))
            .toList();
    return Optional.of(
        new DetailTable(
            "Tests of each difference",
            List.of("difference", "blocks", "Welch", "Mann-Whitney", "permutation", "Cohen's d"),
            rows,
            "Two-sided p-values of logarithms of fork means, each column corrected by Holm's method"
                + " for being a family; permutation of the signs of the blocks' differences. 'need ≥"
                + " n': with fewer blocks the test can't reach 5 % whatever they show. Verdicts rest on"
                + " the intervals, and ask for a difference beyond the margin."));
  }

  private static List<Pair> pairs(Study study, Blocks blocks) {
    List<Pair> pairs = new ArrayList<>();
    for (Metric metric : Metric.of(study)) {
      for (String label : study.engines().keySet()) {
        if (study.baseline().isEmpty() || label.equals(study.baseline())) {
          continue;
        }
        Blocks.Pairs forks =
            blocks.pairs(
                new Cell(label, metric.workload()), new Cell(study.baseline(), metric.workload()));
        if (!forks.blocks().isEmpty()) {
          Sample subject = metric.sample(forks.subject());
          Sample baseline = metric.sample(forks.baseline());
          if (subject.min() > 0 && baseline.min() > 0) {
            pairs.add(
                new Pair(
                    metric.name() + ", " + label + " and " + study.baseline(),
                    logs(subject),
                    logs(baseline)));
          }
        }
      }
    }
    return pairs;
  }

  private static double[] logs(Sample sample) {
    return Arrays.stream(sample.forkMeans()).map(Math::log).toArray();
  }

  /** The corrected p-values of a test, or why there is none. */
  private static List<String> column(
      List<Pair> pairs, int least, Function<Pair, Optional<Double>> test) {
    String[] texts = new String[pairs.size()];
    List<Integer> tested = new ArrayList<>();
    List<Double> values = new ArrayList<>();
    for (int i = 0; i < texts.length; i++) {
      Optional<Double> p =
          pairs.get(i).blocks() < least ? Optional.empty() : test.apply(pairs.get(i));
      texts[i] = pairs.get(i).blocks() < least ? "need ≥ " + least : NONE;
      if (p.isPresent()) {
        tested.add(i);
        values.add(p.get());
      }
    }
    double[] adjusted = Holm.adjust(values.stream().mapToDouble(p -> p).toArray());
    for (int i = 0; i < adjusted.length; i++) {
      texts[tested.get(i)] = adjusted[i] < 1e-4 ? "< 0.0001" : Format.significant(adjusted[i], 2);
    }
    return List.of(texts);
  }

  private static String effect(Pair pair) {
    OptionalDouble d = CohensD.of(pair.subject(), pair.baseline());
    return d.isPresent() ? Format.significant(d.getAsDouble(), 2) : NONE;
  }
}
