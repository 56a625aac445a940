package io.steelyard.app;

import io.steelyard.kernels.Roofline;
import io.steelyard.lab.RunException;
import io.steelyard.lab.calibration.Clock;
import io.steelyard.lab.calibration.Noise;
import io.steelyard.lab.environment.Environment;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.EngineRegistry;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.models.catalogue.ResolvedModel;
import java.nio.file.Path;
import java.util.LinkedHashMap;
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
    name = "calibrate",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Measures what this machine can do, and keeps it for the runs that follow.",
      "",
      "How fast it reads memory and multiplies at best, how fine its clock is, and what an engine"
          + " against itself shows: how often it is called faster or slower all the same, and how small"
          + " a change can be found in how long. Every report of a run on the same hardware says so from"
          + " then on. Nothing else should run meanwhile. A later roofline replaces an earlier one;"
          + " comparisons of an engine with itself are added up."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard calibrate",
      "  ./steelyard calibrate --budget 20m",
      "  ./steelyard calibrate --roofline --threads 1 --json"
    })
final class CalibrateCommand implements Callable<Integer> {
  private static final String ENGINE = "steelyard";
  private static final String AGAIN = "again";

  @Spec CommandSpec spec;

  @Option(
      names = "--roofline",
      description = "only the limits of memory and arithmetic, which takes 2 s")
  boolean roofline;

  @Option(
      names = "--budget",
      paramLabel = "TIME",
      defaultValue = "5m",
      converter = Converters.Seconds.class,
      description = "time for an engine against itself")
  double budget;

  @Option(
      names = {"-m", "--model"},
      paramLabel = "MODEL",
      defaultValue = "default",
      description =
          "what the engine runs: a name of 'model list', a GGUF file, or a folder with safetensors")
  String model;

  @Mixin ThreadsOption threads;

  @Option(
      names = "--runs",
      paramLabel = "DIR",
      defaultValue = "runs",
      description = "where run directories lie")
  Path runs;

  @Option(names = "--json", description = "print what was found as JSON")
  boolean json;

  /** What is printed as JSON. */
  private record Found(Roofline roofline, Clock clock, List<Noise> again) {}

  @Override
  public Integer call() throws WorkerException {
    int team = threads.count();
    Console console = new Console();
    Calibration calibration = Calibration.of(Home.cache());
    Optional<ResolvedModel> resolved =
        roofline ? Optional.empty() : Optional.of(Models.resolve(model, console));
    console.note("Reading and multiplying for about two seconds");
    Roofline limits = Roofline.measure(team);
    calibration.keep(limits);
    if (resolved.isEmpty()) {
      console.result(json ? Json.pretty(limits) : RooflineTable.text(limits));
      console.note("Kept in " + calibration.file(team));
      return ExitCode.FINE;
    }
    Clock clock = Clock.measure();
    Study study = study(resolved.get(), team, calibration);
    List<Noise> noise = againstItself(study, console);
    if (noise.isEmpty()) {
      throw new RunException(
          "no two blocks of an engine against itself were sound: nothing is kept");
    }
    calibration.add(team, noise);
    if (json) {
      console.result(Json.pretty(new Found(limits, clock, noise)));
      return ExitCode.FINE;
    }
    console.result(RooflineTable.text(limits));
    console.result(
        "Clock: steps of %.0f ns, %.0f ns a reading"
            .formatted(clock.resolutionNanos(), clock.overheadNanos()));
    console.result("Now " + NoiseTable.alarms(noise));
    console.result(
        "In all calibrations of this hardware " + NoiseTable.alarms(calibration.noise(team)));
    console.blank();
    console.table(NoiseTable.render(noise, study.design().margin(), console.style()));
    console.note("Kept in " + calibration.noiseFile(team));
    return ExitCode.FINE;
  }

  private Study study(ResolvedModel resolved, int team, Calibration calibration) {
    Map<String, Study.Engine> engines = new LinkedHashMap<>();
    engines.put(ENGINE, new Study.Engine(ENGINE, ENGINE, Map.of()));
    engines.put(AGAIN, new Study.Engine(ENGINE + ":label=" + AGAIN, ENGINE, Map.of()));
    Study.Shape shape = new Study.Shape(512, 64, 0, 1);
    return Study.builder(CommandText.of(spec))
        .model(StudyOptions.model(resolved))
        .engines(engines)
        .baseline(ENGINE)
        .metrics(List.of("prefill", "decode"))
        .shape(shape)
        .settings(
            new Study.Settings(
                team,
                shape.prompt() + shape.generate(),
                Models.defaultKv(resolved),
                true,
                Environment.affinity()))
        .design(
            DesignOptions.quick(
                Study.Design.MOST_FORKS, 2, budget, DesignOptions.MARGIN, DesignOptions.SEED))
        .limits(calibration.limits(resolved.file(), team))
        .build();
  }

  private List<Noise> againstItself(Study study, Console console) throws WorkerException {
    try (RunDirectory directory = RunDirectory.create(runs, "calibrate", study);
        Console.Watching watching = console.watch()) {
      StudyConsole.rememberEnvironment(directory);
      console.note(
          "%s against itself on %s; run %s"
              .formatted(ENGINE, study.model().name(), directory.path()));
      StudyRun.Outcome outcome =
          new StudyRun(directory, EngineRegistry.system(), Home.cache(), watching).run();
      new RunReports(directory, outcome).write(console);
      outcome.broken().forEach(console::note);
      return Noise.of(directory.plan(), outcome.blocks());
    }
  }
}
