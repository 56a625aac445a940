package io.steelyard.lab.run;

import io.steelyard.lab.metric.Metric;
import io.steelyard.lab.parity.EngineParity;
import io.steelyard.lab.record.Blocks;
import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Entry.Role;
import io.steelyard.lab.record.ForkRecord;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.stats.TrialsPerFork;
import io.steelyard.stats.Verdict;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * What the blocks so far tell of how to go on.
 *
 * @param settled workloads of which no further block is needed
 * @param trials by workload, how many timed calls in a process pay; it is missing where that is not
 *     known yet
 * @param standing by workload, how its ratios stand, for a person who watches
 */
record Look(
    Set<Workload> settled, Map<Workload, Integer> trials, Map<Workload, List<String>> standing) {
  /** Before there is anything to see. */
  static final Look NOTHING = new Look(Set.of(), Map.of(), Map.of());

  /** One trial alone has no spread. */
  private static final int LEAST_TRIALS = 2;

  /** Warm-up calls of a process, before one can know: for so long the JVM compiles. */
  private static final int WARM_UP_CALLS = 12;

  /** How much more a call varies than a process, as variances, before one can know. */
  private static final double CALLS_TO_PROCESSES = 4;

  /** With fewer blocks Student's t is so wide that more trials can't make up for it. */
  private static final int BLOCKS_WANTED = 10;

  /**
   * How to begin: with as many trials as pay by what a call took in the parity run.
   *
   * @param engines by label, those that are measured
   */
  static Look atFirst(Study study, Map<String, EngineParity> engines) {
    Map<Workload, Integer> trials = new HashMap<>();
    for (Workload workload : study.workloads()) {
      long call = 0;
      long start = 0;
      for (EngineParity engine : engines.values()) {
        call = Math.max(call, engine.estimates().getOrDefault(workload.name(), 0L));
        start = Math.max(start, engine.startNanos());
      }
      if (study.design().freeTrials() && call > 0) {
        double fork = start + (double) WARM_UP_CALLS * call;
        int best = (int) Math.round(Math.sqrt(CALLS_TO_PROCESSES * fork / call));
        int most = affordable(study, fork, (double) call);
        trials.put(workload, Math.max(study.design().trials(), Math.min(best, most)));
      }
    }
    return new Look(Set.of(), trials, Map.of());
  }

  /**
   * Takes a look.
   *
   * @param summary of these entries
   */
  static Look at(Study study, Summary summary, List<Entry> entries) {
    Blocks blocks = Blocks.of(entries);
    Set<Workload> settled = new HashSet<>(study.workloads());
    Map<Workload, Integer> trials = new HashMap<>();
    Map<Workload, List<String>> standing = new HashMap<>();
    for (Metric metric : Metric.of(study)) {
      Workload workload = metric.workload();
      for (Summary.Comparison comparison : summary.comparisons()) {
        if (comparison.metric().equals(metric.name()) && comparison.low() != null) {
          standing.computeIfAbsent(workload, w -> new ArrayList<>()).add(said(comparison));
        }
      }
      if (study.design().adaptive().isPresent()) {
        Study.Adaptive adaptive = study.design().adaptive().get();
        if (!settled(study, metric, summary, adaptive.precision())) {
          settled.remove(workload);
        }
        for (String label : study.engines().keySet()) {
          if (study.design().freeTrials() && !label.equals(study.baseline())) {
            trials(study, label, metric, blocks)
                .ifPresent(n -> trials.merge(workload, n, Math::max));
          }
        }
      }
    }
    return study.design().adaptive().isPresent()
        ? new Look(settled, trials, standing)
        : new Look(Set.of(), Map.of(), standing);
  }

  private static String said(Summary.Comparison comparison) {
    return "%s %.2f× [%.2f, %.2f]"
        .formatted(comparison.metric(), comparison.ratio(), comparison.low(), comparison.high());
  }

  private static boolean settled(Study study, Metric metric, Summary summary, double precision) {
    return study.baseline().isEmpty()
        ? summary.cells().stream()
            .filter(cell -> cell.metric().equals(metric.name()))
            .allMatch(cell -> cell.low() != null && precise(cell, precision))
        : summary.comparisons().stream()
            .filter(comparison -> comparison.metric().equals(metric.name()))
            .allMatch(comparison -> settled(comparison, precision));
  }

  private static boolean precise(Summary.Cell cell, double precision) {
    return (cell.high() - cell.low()) / 2 <= precision * Math.abs(cell.mean());
  }

  private static boolean settled(Summary.Comparison comparison, double precision) {
    return !comparison.verdict().equals(Verdict.INCONCLUSIVE.label())
        || (comparison.low() != null
            && Math.sqrt(comparison.high() / comparison.low()) <= 1 + precision);
  }

  /** By the spread of what is compared: of the ratio where there is a baseline. */
  private static OptionalInt trials(Study study, String label, Metric metric, Blocks blocks) {
    Cell own = new Cell(label, metric.workload());
    boolean alone = study.baseline().isEmpty();
    // Paired with itself where there is no baseline.
    Blocks.Pairs pairs =
        blocks.pairs(own, alone ? own : new Cell(study.baseline(), metric.workload()));
    List<ForkRecord> forks = new ArrayList<>(pairs.subject());
    forks.addAll(pairs.baseline());
    if (pairs.blocks().size() < Study.Design.LEAST_FORKS
        || forks.stream().anyMatch(fork -> fork.calls(Role.TRIAL).size() < LEAST_TRIALS)) {
      return OptionalInt.empty();
    }
    double forkCost = forks.stream().mapToDouble(Look::nanosWithoutTrials).average().orElseThrow();
    double trialCost = forks.stream().mapToDouble(Look::nanosOfTrial).average().orElseThrow();
    return OptionalInt.of(
        TrialsPerFork.best(
            metric.sample(pairs.subject()),
            alone ? Optional.empty() : Optional.of(metric.sample(pairs.baseline())),
            forkCost,
            trialCost,
            LEAST_TRIALS,
            affordable(study, forkCost, trialCost)));
  }

  /** The most trials of a process with which enough blocks fit in the budget. */
  private static int affordable(Study study, double forkCost, double trialCost) {
    double nanos = 1e9 * study.design().budgetSeconds() / BLOCKS_WANTED / study.cells().size();
    int most = study.design().adaptive().orElseThrow().mostTrials();
    return (int) Math.clamp((nanos - forkCost) / trialCost, LEAST_TRIALS, most);
  }

  private static double nanosWithoutTrials(ForkRecord fork) {
    double calls = fork.calls(Role.WARM_UP).stream().mapToLong(Entry.Call::outsideNanos).sum();
    return calls + fork.start().runtimeNanos() + fork.start().loadOutsideNanos();
  }

  private static double nanosOfTrial(ForkRecord fork) {
    return fork.calls(Role.TRIAL).stream()
        .mapToLong(Entry.Call::outsideNanos)
        .average()
        .orElseThrow();
  }
}
