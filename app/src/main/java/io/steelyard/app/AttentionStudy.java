package io.steelyard.app;

import io.steelyard.engines.ProcessFacts;
import io.steelyard.engines.attention.AttentionProblem;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tier;
import io.steelyard.kernels.attention.AttentionShape;
import io.steelyard.kernels.attention.Estimate;
import io.steelyard.kernels.attention.Variants;
import io.steelyard.lab.run.BenchmarkRun;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.reports.terminal.Format;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntToLongFunction;

/**
 * A study of variants of attention.
 *
 * @param labels the first is the baseline
 * @param lengths in tokens
 * @param callSeconds how long one pass may take: what would take longer is left out, as is what
 *     doesn't fit into memory
 */
record AttentionStudy(Map<String, Label> labels, List<Integer> lengths, double callSeconds) {
  /** What a process takes beside what its variant says. */
  static final long PROCESS_BYTES = 256L << 20;

  /** What the virtual machine and the system around need. */
  private static final long ROOM = 1L << 30;

  /** What Java takes for a score that it looks at to choose some. */
  private static final double SECONDS_SINGLY = 30e-9;

  private static final int USUAL_TRIALS = 3;
  private static final int MOST_WARM_UP_CALLS = 12;

  /**
   * A variant on a problem.
   *
   * @param engine that runs it
   * @param processBytes by length, what its processes take, where that is more than the variant
   *     takes in one process
   */
  record Label(
      String spelling, AttentionProblem problem, String engine, IntToLongFunction processBytes) {
    /** A variant of Steelyard's own. */
    Label(String spelling, AttentionProblem problem) {
      this(spelling, problem, AttentionProblem.ENGINE, _ -> 0);
    }

    /** Exact attention by a program, which needs what flash needs at least. */
    static Label ofProgram(String program, AttentionProblem problem) {
      if (!Files.isExecutable(Path.of(program))) {
        throw new UsageException("--peer %s: there is no such program".formatted(program));
      }
      String path = Path.of(program).toAbsolutePath().toString();
      return new Label("flash", problem, path, _ -> 0);
    }
  }

  /** The study, with what is left out. */
  Study of(String command, String title, DesignOptions design, double margin) {
    Study.Design usual = design.of(margin, USUAL_TRIALS);
    return of(command, title, usual.warmedUp(MOST_WARM_UP_CALLS, usual.warmUpSeconds()));
  }

  /** The study by a design of its own. */
  Study of(String command, String title, Study.Design design) {
    Map<String, Study.Engine> engines = new LinkedHashMap<>();
    labels.forEach(
        (name, label) ->
            engines.put(
                name,
                new Study.Engine(
                    label.spelling(), label.engine(), label.problem().options(label.spelling()))));
    String baseline = labels.keySet().iterator().next();
    List<Need> needs = needs();
    long free = freeMemory();
    Map<String, String> leftOut = leftOut(needs, free);
    if (lengths.stream().allMatch(length -> leftOut.containsKey(cell(baseline, length)))) {
      throw new UsageException("nothing can be measured: " + leftOut.values().iterator().next());
    }
    AttentionProblem problem = labels.get(baseline).problem();
    // Tiles multiply 16 bits; everything else is float32.
    DataType multiplied = problem.tier() == Tier.AMX ? problem.type() : DataType.F32;
    return BenchmarkRun.study(
            command, title, engines, lengths.stream().map(AttentionProblem::name).toList())
        .baseline(baseline)
        .settings(DesignOptions.withoutModel())
        .design(design)
        .limits(Calibration.of(Home.cache()).limits(problem.threads(), multiplied))
        .leftOut(leftOut)
        .groups(groups(needs, leftOut.keySet(), free))
        .build();
  }

  /**
   * What a cell takes of a machine.
   *
   * @param what the variant and the length, for messages
   * @param bytes of all its processes
   * @param seconds of a pass
   */
  record Need(String cell, String what, int length, long bytes, double seconds) {}

  /** What all cells take, by length, then in the order of the variants. */
  List<Need> needs() {
    List<Need> needs = new ArrayList<>();
    for (int length : lengths) {
      labels.forEach((name, label) -> needs.add(need(name, label, length)));
    }
    return needs;
  }

  private static Need need(String name, Label label, int length) {
    AttentionProblem problem = label.problem();
    AttentionShape shape = AttentionOptions.shape(problem, length);
    Estimate estimate =
        AttentionOptions.asked(
            () -> Variants.of(label.spelling()).estimate(shape, problem.type(), problem.threads()));
    long bytes = problem.bytes(length) + estimate.scratchBytes();
    return new Need(
        cell(name, length),
        name + " at " + AttentionProblem.name(length),
        length,
        Math.max(bytes, label.processBytes().applyAsLong(length)),
        seconds(problem, estimate));
  }

  /**
   * By cell, which variants have room beside one another at a length; empty where all have.
   *
   * @param leftOut cells that aren't measured
   * @param free bytes
   */
  static Map<String, Integer> groups(List<Need> needs, Set<String> leftOut, long free) {
    Map<String, Integer> groups = new HashMap<>();
    int length = 0;
    int group = 0;
    long bytes = 0;
    for (Need need : needs) {
      if (leftOut.contains(need.cell())) {
        continue;
      }
      long own = need.bytes() + PROCESS_BYTES;
      bytes += own;
      if (need.length() != length) {
        length = need.length();
        group = 0;
        bytes = own;
      } else if (bytes > free) {
        group++;
        bytes = own;
      }
      groups.put(need.cell(), group);
    }
    boolean together = groups.values().stream().allMatch(number -> number == 0);
    return together ? Map.of() : groups;
  }

  /** By cell, why it is left out. */
  private Map<String, String> leftOut(List<Need> needs, long free) {
    Map<String, String> leftOut = new LinkedHashMap<>();
    for (Need need : needs) {
      obstacle(need, free).ifPresent(why -> leftOut.put(need.cell(), need.what() + " " + why));
    }
    return leftOut;
  }

  private static String cell(String label, int length) {
    return new Cell(label, Workload.operation(AttentionProblem.name(length))).id();
  }

  private Optional<String> obstacle(Need need, long free) {
    if (need.bytes() > free) {
      return Optional.of(
          "needs about %s of memory, and %s are free"
              .formatted(Format.bytes(need.bytes()), Format.bytes(free)));
    }
    return need.seconds() <= callSeconds
        ? Optional.empty()
        : Optional.of(
            "would take about %s s a pass, where --call-limit allows %s"
                .formatted(
                    Format.significant(need.seconds(), 2), Format.significant(callSeconds, 2)));
  }

  /** About how long a pass takes, by a rule of thumb: nothing of its kind was measured yet. */
  static double seconds(AttentionProblem problem, Estimate estimate) {
    double products = 2 * estimate.scores() * problem.dimension();
    double alone =
        products / productsPerSecond(problem.tier()) + estimate.singly() * SECONDS_SINGLY;
    return alone / problem.threads();
  }

  /** Memory for what is measured: what is free, without what a process needs beside it. */
  static long freeMemory() {
    return Math.max(0, ProcessFacts.availableMemory().orElse(Long.MAX_VALUE) - ROOM);
  }

  /** What a thread of a tier does at least, where it is not hindered. */
  private static double productsPerSecond(Tier tier) {
    return switch (tier) {
      case REFERENCE -> 2e8;
      case VECTOR -> 4e9;
      case AVX2, AVX512, AMX -> 1.5e10;
    };
  }
}
