package io.steelyard.app;

import io.steelyard.engines.attention.AttentionProblem;
import io.steelyard.lab.study.Study;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "range",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Measures variants of attention over a range of lengths.",
      "",
      "RANGE is production (1K to 16K), medium (32K to 128K), long (256K to 1M), document (512 to"
          + " 4K), context (4K to 32K), book (50K to 200K), all, or custom with --lengths; K is"
          + " 1,024 tokens. Every variant is held to its definition in double precision before it"
          + " is timed, on all rows up to 1K and on 64 rows of each head beyond. What would not fit"
          + " into memory, or take too long, is said to be so and left out."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard attention range document --quick",
      "  ./steelyard attention range custom --lengths 4K,16K --variants flash,block-sparse"
    })
final class AttentionRangeCommand implements Callable<Integer> {
  @Spec CommandSpec spec;

  @Parameters(paramLabel = "RANGE", description = "${COMPLETION-CANDIDATES}")
  AttentionRange range;

  @Option(
      names = "--lengths",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      paramLabel = "N",
      split = ",",
      description = "lengths of custom, such as 1000,4K,1M")
  List<String> lengths = List.of();

  @Option(
      names = "--pattern-cache",
      negatable = true,
      defaultValue = "true",
      fallbackValue = "true",
      description = "whether patterns are kept for the next pass")
  boolean patterns;

  @Option(
      names = "--memory-pool",
      negatable = true,
      defaultValue = "true",
      fallbackValue = "true",
      description = "whether scratch memory is kept for the next pass")
  boolean pool;

  @Option(
      names = "--peer",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      paramLabel = "PROGRAM",
      description =
          "a program that speaks the worker protocol and attends, such as engines/python/sdpa.py;"
              + " repeatable")
  List<String> peers = List.of();

  @Mixin CallLimitOption callLimit;
  @Mixin AttentionOptions attention;
  @Mixin VerdictOptions verdict;
  @Mixin DesignOptions design;

  @Override
  public Integer call() throws Exception {
    AttentionProblem problem = attention.problem().keeping(pool, patterns);
    List<String> spellings = attention.spellings();
    List<Integer> tokens = lengths();
    Map<String, AttentionStudy.Label> labels = new LinkedHashMap<>();
    for (String spelling : spellings) {
      labels.put(spelling, new AttentionStudy.Label(spelling, problem));
    }
    for (String peer : peers) {
      labels.put(peer, AttentionStudy.Label.ofProgram(peer, problem));
    }
    Study study =
        new AttentionStudy(labels, tokens, callLimit.seconds)
            .of(CommandText.of(spec), title(problem), design, verdict.margin);
    return new StudyConsole(new Console(), verdict.json, new ViewPrinter())
        .begin(design.runs, "attention-" + range.name().toLowerCase(Locale.ROOT), study);
  }

  private String title(AttentionProblem problem) {
    return "attention %s, %s".formatted(range.name().toLowerCase(Locale.ROOT), problem.title());
  }

  private List<Integer> lengths() {
    if (range != AttentionRange.CUSTOM && !lengths.isEmpty()) {
      throw new UsageException("--lengths is for 'custom' alone");
    }
    List<Integer> all =
        range == AttentionRange.CUSTOM ? AttentionOptions.lengths(lengths) : range.lengths();
    if (all.isEmpty()) {
      throw new UsageException(
          "custom needs --lengths, such as --lengths 1000,4K; the named ranges are "
              + String.join(
                  ", ",
                  Arrays.stream(AttentionRange.values())
                      .filter(each -> each != AttentionRange.CUSTOM)
                      .map(each -> each.name().toLowerCase(Locale.ROOT))
                      .toList()));
    }
    return all;
  }
}
