package io.steelyard.app;

import io.steelyard.lab.parity.FairnessSheet;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.models.catalogue.ResolvedModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "compare",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Says which engine is faster on one model, by how much and how surely.",
      "",
      "Proves first that all engines compute the same thing, then measures them in fresh processes"
          + " in interleaved blocks. Ratios are turned so that above 1 is better.",
      "",
      "With --precisions it encodes the model to each of them and measures one engine on all: speed,"
          + " memory, and what the text loses against the model as it was given.",
      "",
      "With --command it measures whole commands instead, by the same blocks and statistics."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard compare",
      "  ./steelyard compare --quick --metrics decode --gen 128",
      "  ./steelyard compare -e llamacpp -e llamacpp:flash=off --baseline llamacpp",
      "  ./steelyard compare -e steelyard -e steelyard:label=again --quick",
      "  ./steelyard compare --model synth:llama-135m --depth 4096 --budget 5m",
      "  ./steelyard compare --metrics prefill,decode --text prompt.txt --gen 256",
      "  ./steelyard compare --model my-f16.gguf --precisions q8_0,q4_k_m --quick",
      "  ./steelyard compare --command \"gzip -kf x\" --command \"xz -kf x\" --prepare sync",
      "  ./steelyard compare --command \"make -j{n}\" --prepare \"make clean\" --parameter n=1,2,4"
    })
final class CompareCommand implements Callable<Integer> {
  @Spec CommandSpec spec;
  @Mixin StudyOptions options;
  @Mixin ComparisonOptions comparison;
  @Mixin PrecisionOptions precisions;

  @Option(
      names = "--baseline",
      paramLabel = "LABEL",
      defaultValue = "",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      description = "the label that the others are compared with (default: llamacpp, or the first)")
  String baseline;

  @Option(
      names = "--allow",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      split = ",",
      paramLabel = "LINE",
      description = "lines of the fairness sheet that may differ, such as 'context'")
  List<String> allow = new ArrayList<>();

  @Option(
      names = "--title",
      paramLabel = "NAME",
      defaultValue = "compare",
      hidden = true,
      description = "what the run's folder is called, after the time")
  String title;

  @Mixin CommandOptions commands;

  @Override
  public Integer call() throws Exception {
    if (!commands.isEmpty()) {
      Study study = commands.study(spec, options, baseline, comparison.verdict.margin);
      return begin(new Console(), study);
    }
    List<String> metrics =
        precisions.isEmpty() ? comparison.metrics() : comparison.metrics(PrecisionOptions.METRICS);
    for (String line : allow) {
      if (!FairnessSheet.lines().contains(line)) {
        throw new UsageException(
            "--allow "
                + line
                + " is no line of the fairness sheet: there are "
                + String.join(", ", FairnessSheet.lines()));
      }
    }
    List<String> usual =
        precisions.isEmpty() ? List.of("steelyard", "llamacpp") : List.of("steelyard");
    List<String> specs = options.engines.isEmpty() ? usual : options.engines;
    if (!precisions.isEmpty() && specs.size() > 1) {
      throw new UsageException(
          "--precisions compares them in one engine, not %d: give one --engine"
              .formatted(specs.size()));
    }
    Console console = new Console();
    specs = Engines.prepare(specs, console);
    ResolvedModel model = Models.resolve(options.model, console);
    if (!precisions.isEmpty()) {
      specs = precisions.encode(specs.getFirst(), model, console);
    }
    Study study =
        options.study(
            CommandText.of(spec),
            model,
            specs,
            baseline.isEmpty() && !precisions.isEmpty() ? precisions.source() : baseline,
            metrics,
            1,
            comparison.verdict.margin,
            allow);
    return begin(console, precisions.isEmpty() ? study : precisions.of(study));
  }

  private int begin(Console console, Study study) throws WorkerException {
    Optional<Gate> gate = comparison.gate();
    return new StudyConsole(console, comparison.verdict.json)
        .begin(
            options.design.runs,
            title,
            gate.map(g -> g.over(study)).orElse(study),
            gate.map(g -> held(study, g)));
  }

  private static Regression held(Study study, Gate gate) {
    List<String> others = new ArrayList<>(study.engines().keySet());
    others.remove(study.baseline());
    return new Regression(
        study.baseline(),
        String.join(", ", others),
        Map.of(),
        Optional.empty(),
        Optional.empty(),
        false,
        Optional.empty(),
        Optional.of(gate));
  }
}
