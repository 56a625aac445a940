package io.steelyard.app;

import io.steelyard.engines.steelyard.SteelyardProvider;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.study.Study;
import io.steelyard.models.catalogue.ResolvedModel;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "fusion",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Weighs what fused operators are worth: Steelyard's engine against itself with fused=off.",
      "",
      "Unfused, queries, keys and values are three products instead of one, gate and up two, and the"
          + " gate's activation and its product are two operators. Both compute the same, which parity"
          + " proves first. Calls and bytes are counted in one call of each; times are measured in"
          + " fresh processes that take turns, in alternating order."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard bench fusion --quick",
      "  ./steelyard bench fusion -m synth:llama-1b:Q4_0 -e steelyard:tier=avx2 --prompt 128"
    })
final class FusionBenchCommand implements Callable<Integer> {
  private static final String FUSED = "fused";
  private static final String UNFUSED = "unfused";

  @Spec CommandSpec spec;

  @Mixin StudyOptions options;

  @Option(names = "--json", description = "print one JSON document: summary.json, and the rows")
  boolean json;

  @Mixin ProfileOption profile;

  @Override
  public Integer call() throws Exception {
    Console console = new Console();
    String engine = options.engines.isEmpty() ? SteelyardProvider.NAME : options.engines.getFirst();
    if (options.engines.size() > 1
        || !StudyOptions.parse(engine).name().equals(SteelyardProvider.NAME)) {
      throw new UsageException(
          "bench fusion measures the engine steelyard against itself: give no other --engine");
    }
    if (StudyOptions.parse(engine).options().containsKey(SteelyardProvider.FUSED)) {
      throw new UsageException("bench fusion sets fused=on and fused=off itself: leave it out");
    }
    profile.requireNoMeasurement(spec);
    ResolvedModel model = Models.resolve(options.model, console);
    Study study =
        options.study(
            CommandText.of(spec),
            model,
            List.of(
                PrecisionOptions.labelled(engine, FUSED),
                StudyOptions.withOption(
                    PrecisionOptions.labelled(engine, UNFUSED), SteelyardProvider.FUSED + "=off")),
            UNFUSED,
            List.of("prefill", "decode"),
            1,
            DesignOptions.MARGIN,
            List.of());
    if (profile.asked()) {
      ProfileRun.each(console, study, options.design.runs);
      return ExitCode.FINE;
    }
    List<FusionCounts.Count> counts = FusionCounts.of(study, console);
    return new StudyConsole(console, json, new ViewPrinter())
        .begin(
            options.design.runs,
            "bench-fusion",
            study,
            directory -> directory.write(FusionCounts.FILE, Json.pretty(counts)));
  }
}
