package io.steelyard.app;

import io.steelyard.engines.attention.AttentionProblem;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.attention.Variants;
import io.steelyard.lab.benchmark.BenchmarkProtocol;
import io.steelyard.lab.study.Study;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "quick",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Proves all variants of attention and weighs them at 1K, 4K and 16K in half a minute.",
      "",
      "One causal head of 32 values in float32: each variant is first held to its definition, then"
          + " timed in three blocks. In a block all variants share one fresh"
          + " process, one after the other, warmed up at 1K, with one call that counts at each length; 'attention"
          + " range' gives each a process of its own. What would not fit into memory, or take over a second a pass, is"
          + " said to be so and left out. The last line is the verdict."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard attention quick",
      "  ./steelyard attention quick --threads 1 --json"
    })
final class AttentionQuickCommand implements Callable<Integer> {
  private static final String BASELINE = "flash";

  /** By its usual rule alone. */
  private static final String SAME_AS_FLASH = "flex";

  /** Variants whose kinds differ in more than a number. */
  private static final List<String> FURTHER =
      List.of("block-sparse:pattern=adaptive", "flex:rules=causal/sliding-window");

  /** Passes of a call by length: enough for the clock, and for the JVM's compilers to see. */
  private static final Map<Integer, Integer> OPERATIONS = lengths();

  private static final int VALUES = 32;
  private static final double MOST_SECONDS = 1;
  private static final int TRIALS = 1;
  private static final int WARM_UP_CALLS = 1;

  /** The least that give an interval: one look at them spends all of its chance of error. */
  private static final int BLOCKS = Study.Design.LEAST_FORKS;

  /** Of repeating blocks that were disturbed. */
  private static final double BUDGET_SECONDS = 5;

  @Spec CommandSpec spec;

  @Option(
      names = "--runs",
      paramLabel = "DIR",
      defaultValue = "runs",
      description = "where run directories lie")
  Path runs;

  @Mixin ThreadsOption threads;
  @Mixin VerdictOptions verdict;

  private static Map<Integer, Integer> lengths() {
    Map<Integer, Integer> operations = new LinkedHashMap<>();
    operations.put(1 << 10, 2);
    operations.put(1 << 12, 1);
    operations.put(1 << 14, 1);
    return operations;
  }

  @Override
  public Integer call() throws Exception {
    AttentionProblem problem =
        new AttentionProblem(
            1,
            1,
            VALUES,
            1,
            0,
            true,
            DataType.F32,
            OwnModel.usualTier(),
            threads.count(),
            true,
            true);
    Set<String> spellings = new LinkedHashSet<>(List.of(BASELINE));
    spellings.addAll(Variants.descriptions().keySet());
    spellings.addAll(FURTHER);
    spellings.remove(SAME_AS_FLASH);
    Map<String, AttentionStudy.Label> labels = new LinkedHashMap<>();
    spellings.forEach(name -> labels.put(name, new AttentionStudy.Label(name, problem)));
    Study study =
        new AttentionStudy(labels, List.copyOf(OPERATIONS.keySet()), MOST_SECONDS)
            .of(
                CommandText.of(spec),
                "attention quick, %s".formatted(problem.title()),
                new Study.Design(
                    BLOCKS,
                    TRIALS,
                    WARM_UP_CALLS,
                    MOST_SECONDS,
                    BUDGET_SECONDS,
                    verdict.margin,
                    DesignOptions.SEED));
    return new StudyConsole(new Console(), verdict.json, new AttentionQuickPrinter())
        .begin(runs, "attention-quick", sharing(study));
  }

  /** The same study in shared processes, with so many passes a call. */
  static Study sharing(Study study) {
    Map<String, String> counts = new HashMap<>();
    OPERATIONS.forEach(
        (length, count) ->
            counts.put(
                BenchmarkProtocol.operations(AttentionProblem.name(length)),
                Integer.toString(count)));
    return study.withOptions(_ -> counts).toBuilder().sharing(true).build();
  }
}
