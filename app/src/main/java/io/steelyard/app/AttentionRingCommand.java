package io.steelyard.app;

import io.steelyard.engines.attention.AttentionProblem;
import io.steelyard.engines.attention.RingProblem;
import io.steelyard.kernels.attention.AttentionShape;
import io.steelyard.lab.study.Study;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "ring",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Proves and measures exact attention over several processes.",
      "",
      "Each process is a rank: it holds the queries, keys and values of its own positions alone."
          + " Keys and values go from neighbour to neighbour over sockets of this machine while"
          + " each rank computes with what it holds, and partial results are merged as in flash."
          + " What the ranks give is compared with flash in one process, value by value, and with"
          + " the definition in double precision, on all rows up to 1K and on 64 of each head"
          + " beyond. The tables have the work, bytes, time and memory of every rank. Beside the"
          + " rings runs flash in one process, or what --variants names."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard attention ring",
      "  ./steelyard attention ring --processes 2,4 --lengths 16K --shards contiguous --quick",
      "  ./steelyard attention ring --processes 3 --lengths 10000 --heads 8 --kv-heads 2"
    })
final class AttentionRingCommand implements Callable<Integer> {
  private static final int MOST_PROCESSES = 256;
  private static final int BLOCKS = 3;

  /** What the virtual machine of a process needs. */
  private static final long OF_PROCESS = 100L << 20;

  private static final double LEAST_PATIENCE = 30;
  private static final double MOST_PATIENCE = 1e6;

  /** A machine that multiplies fewer pairs of numbers a second makes its ranks wait for longer. */
  private static final double SLOW_PRODUCTS = 2e10;

  /** Which positions a rank holds. */
  enum Shards {
    ZIGZAG,
    CONTIGUOUS
  }

  @Spec CommandSpec spec;

  @Option(
      names = "--processes",
      paramLabel = "N",
      split = ",",
      defaultValue = "2",
      description = "ranks, one process each; several rings stand side by side: 2,4")
  List<Integer> processes;

  @Option(
      names = "--shards",
      paramLabel = "zigzag|contiguous",
      description =
          "which positions a rank holds: chunks r and 2R - 1 - r of 2R, which balances causal work,"
              + " or one chunk (default: zigzag, but contiguous where attention is dilated)")
  Shards shards;

  @Option(
      names = "--variant",
      paramLabel = "VARIANT",
      defaultValue = RingProblem.EXACT,
      description =
          "what the ranks compute: ring, ring-dilated-v2 or ring-dilated-v3, the latter with"
              + " parameters after a colon: ring-dilated-v3:segments=2048/8192,rates=1/4")
  String variant;

  @Option(
      names = {"--lengths", "--length"},
      paramLabel = "N",
      split = ",",
      defaultValue = "8K",
      description = "lengths, such as 1000,4K,1M")
  List<String> lengths;

  @Option(
      names = "--call-limit",
      paramLabel = "TIME",
      converter = Converters.Seconds.class,
      defaultValue = "5m",
      description = "a length is left out where one pass would take longer than about this")
  Double callLimit;

  @Option(
      names = "--patience",
      paramLabel = "TIME",
      converter = Converters.Seconds.class,
      description =
          "how long a rank waits for a neighbour that sends or takes nothing before the ring is"
              + " ended (default: 30 s, more for long passes)")
  Double patience;

  @Mixin AttentionOptions attention;
  @Mixin VerdictOptions verdict;
  @Mixin DesignOptions design;

  @Override
  public Integer call() throws Exception {
    if (shards == null) {
      shards = variant.equals(RingProblem.EXACT) ? Shards.ZIGZAG : Shards.CONTIGUOUS;
    }
    AttentionProblem problem = attention.problem();
    List<Integer> tokens = AttentionOptions.lengths(lengths);
    Map<String, RingProblem> rings = rings(problem, tokens);
    String same = rings.values().iterator().next().inOneProcess();
    Map<String, AttentionStudy.Label> labels = new LinkedHashMap<>();
    for (String spelling : attention.variants == null ? List.of(same) : attention.spellings()) {
      labels.put(spelling, new AttentionStudy.Label(spelling, problem));
    }
    rings.forEach(
        (label, ring) ->
            labels.put(
                label,
                new AttentionStudy.Label(
                    ring.withRanks(),
                    problem,
                    RingProblem.ENGINE,
                    length -> ring.bytes(length) + ring.ranks() * OF_PROCESS)));
    if (design.budget == null && design.forks == null) {
      design.forks = BLOCKS;
    }
    Study study =
        new AttentionStudy(labels, tokens, callLimit)
            .of(CommandText.of(spec), title(problem), design, verdict.margin);
    return new StudyConsole(new Console(), verdict.json, new ViewPrinter())
        .begin(design.runs, "attention-ring", withRings(study, rings));
  }

  private String title(AttentionProblem problem) {
    return "attention %s, %s, %s shards"
        .formatted(variant, problem.title(), shards.name().toLowerCase(Locale.ROOT));
  }

  private Map<String, RingProblem> rings(AttentionProblem problem, List<Integer> tokens) {
    Map<String, RingProblem> rings = new LinkedHashMap<>();
    for (int ranks : processes) {
      StudyOptions.between("--processes", ranks, 1, MOST_PROCESSES);
      RingProblem ring =
          new RingProblem(
              problem,
              variant,
              Math.max(1, problem.threads() / ranks),
              ranks,
              shards == Shards.ZIGZAG,
              patience(problem, tokens.getLast()));
      tokens.forEach(length -> AttentionOptions.asked(() -> ring.ranks(length)));
      rings.put(variant.split(":", 2)[0] + "-" + ranks, ring);
    }
    return rings;
  }

  private Duration patience(AttentionProblem problem, int longest) {
    AttentionShape shape = AttentionOptions.shape(problem, longest);
    double usual =
        Math.max(LEAST_PATIENCE, 2.0 * shape.scores() * shape.dimension() / SLOW_PRODUCTS);
    double seconds = Math.min(patience == null ? usual : patience, MOST_PATIENCE);
    return Duration.ofMillis(Math.round(1000 * seconds));
  }

  /** The study with what the rings' engines are told. */
  private static Study withRings(Study study, Map<String, RingProblem> rings) {
    Map<String, Study.Engine> engines = new LinkedHashMap<>(study.engines());
    rings.forEach(
        (label, ring) ->
            engines.put(
                label,
                new Study.Engine(engines.get(label).spec(), RingProblem.ENGINE, ring.options())));
    return study.toBuilder().engines(engines).build();
  }
}
