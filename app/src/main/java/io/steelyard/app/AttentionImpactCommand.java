package io.steelyard.app;

import io.steelyard.engines.attention.AttentionProblem;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.study.Study;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "impact",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Measures what the pattern cache and the memory pool are worth.",
      "",
      "Each variant runs without either, with the pattern cache, with the memory pool and with both,"
          + " by turns; the tables have the speed-up over neither, the memory saved, and how often"
          + " each was of use. Without the pool every piece of scratch memory comes from the system"
          + " and goes back to it; without the cache every pattern is made anew. --json prints a"
          + " list where there are several variants."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard attention impact",
      "  ./steelyard attention impact --variants ring-dilated-v3 --lengths 8K,64K"
    })
final class AttentionImpactCommand implements Callable<Integer> {
  /** The label of what keeps nothing: the baseline. */
  static final String NEITHER = "neither";

  @Spec CommandSpec spec;

  @Option(
      names = "--lengths",
      paramLabel = "N",
      split = ",",
      defaultValue = "8K,32K",
      description = "lengths, such as 1000,4K,1M")
  List<String> lengths;

  @Mixin CallLimitOption callLimit;
  @Mixin AttentionOptions attention;
  @Mixin VerdictOptions verdict;
  @Mixin DesignOptions design;

  @Override
  public Integer call() throws Exception {
    AttentionProblem problem = attention.problem();
    List<String> spellings =
        attention.variants == null
            ? List.of("dilated", "ring-dilated-v3", "block-sparse:pattern=random")
            : attention.spellings();
    List<Integer> tokens = AttentionOptions.lengths(lengths);
    Console console = new Console();
    List<Object> documents = new ArrayList<>();
    StudyConsole studies =
        verdict.json
            ? new StudyConsole(console, documents::add, new ViewPrinter())
            : new StudyConsole(console, false, new ViewPrinter());
    int worst = ExitCode.FINE;
    for (String spelling : spellings) {
      Map<String, AttentionStudy.Label> labels = new LinkedHashMap<>();
      labels.put(NEITHER, label(spelling, problem, false, false));
      labels.put("pattern cache", label(spelling, problem, false, true));
      labels.put("memory pool", label(spelling, problem, true, false));
      labels.put("both", label(spelling, problem, true, true));
      Study study =
          new AttentionStudy(labels, tokens, callLimit.seconds)
              .of(
                  CommandText.of(spec),
                  "%s, %s".formatted(spelling, problem.title()),
                  design,
                  verdict.margin);
      Study counting = study.withOptions(_ -> Map.of(AttentionProblem.WARM_COUNTS, "true"));
      worst = Math.max(worst, studies.begin(design.runs, "attention-impact", counting));
    }
    if (verdict.json) {
      console.result(Json.pretty(documents.size() == 1 ? documents.getFirst() : documents));
    }
    return worst;
  }

  private static AttentionStudy.Label label(
      String spelling, AttentionProblem problem, boolean pool, boolean patterns) {
    return new AttentionStudy.Label(spelling, problem.keeping(pool, patterns));
  }
}
