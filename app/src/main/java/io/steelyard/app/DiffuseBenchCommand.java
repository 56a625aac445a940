package io.steelyard.app;

import io.steelyard.engines.steelyard.SteelyardProvider;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.EngineSpec;
import io.steelyard.models.ModelFile;
import io.steelyard.models.catalogue.ResolvedModel;
import io.steelyard.models.diffusion.Blocks;
import io.steelyard.models.diffusion.Diffusion.Algorithm;
import io.steelyard.models.synth.Synth;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "diffuse",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Measures generation by masked diffusion: caches, blocks and confidence thresholds.",
      "",
      "Each way to fill in --gen masks is a label: without a cache, which the others are held"
          + " against, and with each cache, by the schedule of --steps and by each threshold. Speed in"
          + " fresh processes and interleaved blocks; tokens a forward pass, passes, time a pass, and"
          + " how much of the uncached text is left.",
      "",
      "Without --model it takes random weights of a small shape, synth:dream-s; dream-m and dream-l"
          + " are larger."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard bench diffuse --quick --gen 32 --steps 16",
      "  ./steelyard bench diffuse -m dream.gguf --cache dual --threshold 0.7,0.9 --gen 128"
    })
final class DiffuseBenchCommand implements Callable<Integer> {
  /** What `--model` says where nobody does; that model generates token by token. */
  private static final String UNSAID = "default";

  private static final String SMALL = "synth:dream-s";

  @Spec CommandSpec spec;

  @Mixin StudyOptions options;

  @Option(
      names = "--cache",
      split = ",",
      paramLabel = "WHAT",
      defaultValue = "none,prefix,dual",
      description = "caches to measure beside none: none, prefix, dual")
  List<Blocks.Cache> caches;

  @Option(
      names = "--threshold",
      split = ",",
      paramLabel = "P",
      defaultValue = "0.9",
      description =
          "confidences above which masks are filled in at once; 'none' for the schedule alone")
  List<String> thresholds;

  @Option(
      names = "--steps",
      paramLabel = "N",
      description = "passes of the schedule; as many as tokens, where it is not given")
  Integer steps;

  @Option(
      names = "--block",
      paramLabel = "N",
      defaultValue = "32",
      description = "tokens of a block")
  int block;

  @Option(
      names = "--algorithm",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      paramLabel = "HOW",
      description = "which masks come first: maskgit_plus or topk_margin (default: maskgit_plus)")
  Algorithm algorithm = Algorithm.MASKGIT_PLUS;

  @Option(names = "--json", description = "print one JSON document: summary.json, and the rows")
  boolean json;

  @Mixin ProfileOption profile;

  @Override
  public Integer call() throws Exception {
    List<String> specs = labels();
    profile.requireNoMeasurement(spec);
    Console console = new Console();
    if (options.model.equals(UNSAID)) {
      options.model = SMALL;
    }
    ResolvedModel model = Models.resolve(options.model, console);
    requireMasks(model);
    Study study =
        options.study(
            CommandText.of(spec),
            model,
            specs,
            label(Blocks.Cache.NONE, ""),
            List.of("decode"),
            1,
            DesignOptions.MARGIN,
            List.of());
    if (profile.asked()) {
      ProfileRun.each(console, study, options.design.runs);
      return ExitCode.FINE;
    }
    return new StudyConsole(console, json, new ViewPrinter())
        .begin(options.design.runs, "bench-diffuse", study);
  }

  /** The engine in each way: without a cache first. */
  private List<String> labels() {
    StudyOptions.between("--block", block, 1, 1 << 20);
    if (steps != null) {
      StudyOptions.between("--steps", steps, 1, 1 << 20);
    }
    List<String> own = ownOptions();
    List<Blocks.Cache> all = new ArrayList<>(List.of(Blocks.Cache.NONE));
    all.addAll(caches.stream().filter(cache -> cache != Blocks.Cache.NONE).distinct().toList());
    List<String> specs = new ArrayList<>();
    for (Blocks.Cache cache : all) {
      List<String> way = new ArrayList<>(own);
      way.add("algorithm=" + algorithm.label());
      way.add("block=" + block);
      way.add("cache=" + cache.label());
      List<String> scheduled = new ArrayList<>(way);
      if (steps != null) {
        scheduled.add("steps=" + steps);
      }
      specs.add(spec(scheduled, label(cache, "")));
      for (String threshold : shares()) {
        List<String> byConfidence = new ArrayList<>(way);
        byConfidence.add("confidence=" + threshold);
        specs.add(spec(byConfidence, label(cache, threshold)));
      }
    }
    return specs;
  }

  private static String spec(List<String> ways, String label) {
    return "%s:%s,label=%s".formatted(SteelyardProvider.NAME, String.join(",", ways), label);
  }

  /** What the engine is told besides. */
  private List<String> ownOptions() {
    if (options.engines.isEmpty()) {
      return List.of();
    }
    if (options.engines.size() > 1) {
      throw new UsageException(
          "bench diffuse measures ways of one engine, not %d: give one --engine"
              .formatted(options.engines.size()));
    }
    EngineSpec engine = StudyOptions.parse(options.engines.getFirst());
    if (!engine.name().equals(SteelyardProvider.NAME)) {
      throw new UsageException(
          "bench diffuse is for the engine steelyard: %s doesn't fill in masks"
              .formatted(engine.name()));
    }
    return engine.options().entrySet().stream()
        .map(option -> option.getKey() + "=" + option.getValue())
        .toList();
  }

  private List<String> shares() {
    List<String> shares =
        thresholds.stream().filter(text -> !text.equals("none")).distinct().toList();
    for (String share : shares) {
      if (!isShare(share)) {
        throw new UsageException(
            "--threshold %s must be a number from 0 to 1, or none".formatted(share));
      }
    }
    if (!shares.isEmpty() && !algorithm.confidenceIsShare()) {
      throw new UsageException(
          "--threshold needs a confidence from 0 to 1, and that of %s is none: take maskgit_plus or topk_margin, or --threshold none"
              .formatted(algorithm.label()));
    }
    return shares;
  }

  private static boolean isShare(String text) {
    try {
      double value = Double.parseDouble(text);
      return value >= 0 && value <= 1;
    } catch (NumberFormatException e) {
      return false;
    }
  }

  private static String label(Blocks.Cache cache, String threshold) {
    return cache.label() + (threshold.isEmpty() ? "" : ">" + threshold);
  }

  private static void requireMasks(ResolvedModel model) {
    try (ModelFile file = ModelFile.open(model.file())) {
      String architecture = file.metadata().string("general.architecture");
      if (!architecture.equals(Synth.DREAM)) {
        throw new UsageException(
            "--model %s generates token by token (%s): give one that fills in masks, such as %s"
                .formatted(model.name(), architecture, SMALL));
      }
    }
  }
}
