package io.steelyard.app;

import io.steelyard.engines.steelyard.Profiler;
import io.steelyard.engines.steelyard.SteelyardProvider;
import io.steelyard.kernels.ProfileFile;
import io.steelyard.kernels.ProfiledKernels;
import io.steelyard.lab.RunException;
import io.steelyard.lab.TemporaryFolder;
import io.steelyard.lab.parity.TimedCall;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.lab.text.Prompts;
import io.steelyard.lab.text.Texts;
import io.steelyard.lab.worker.EngineRegistry;
import io.steelyard.lab.worker.Timeouts;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.lab.worker.WorkerProcess;
import io.steelyard.lab.worker.Workers;
import io.steelyard.reports.FlameGraph;
import io.steelyard.reports.terminal.Format;
import io.steelyard.reports.terminal.Table;
import io.steelyard.reports.terminal.Table.Align;
import io.steelyard.stats.WarmUp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Shows where a workload's time goes, operator by operator: one worker, warmed up, whose calls are
 * repeated for a few seconds. No measurement: timing every operator takes time of its own.
 */
final class ProfileRun {
  private static final String FLAMES = "flame.svg";
  private static final String STDERR = "stderr.log";

  private static final Duration LENGTH = Duration.ofSeconds(5);

  /** Calls of tiny models would otherwise fill the disk with events. */
  private static final int MOST_CALLS = 1000;

  /** The recording is written when the worker is closed. */
  private static final Timeouts PATIENT = Timeouts.DEFAULT.withClose(Duration.ofMinutes(2));

  private final Console console;
  private final Study study;
  private final Study.Engine engine;
  private final Workload workload;

  /** What was timed. */
  private record Timing(int calls, long nanos) {}

  /**
   * @param study of one engine and one workload; nothing else of it is used but the settings and
   *     the warm-up
   */
  ProfileRun(Console console, Study study) {
    this.console = console;
    this.study = study;
    this.engine = study.engines().values().iterator().next();
    this.workload = study.workloads().getFirst();
  }

  /** Refuses an engine that can't be profiled. */
  static void check(List<String> specs) {
    for (String text : specs) {
      if (!StudyOptions.parse(text).name().equals(SteelyardProvider.NAME)) {
        throw new UsageException(
            "--profile times the operators of the engine steelyard alone, so it can't profile "
                + text);
      }
    }
    if (specs.size() > 1) {
      throw new UsageException("--profile takes one engine, not " + specs.size());
    }
  }

  /**
   * Profiles and prints.
   *
   * @param runs where a folder for the files is made
   */
  void run(Path runs) throws WorkerException, IOException {
    Path folder = RunDirectory.newFolder(runs, "profile");
    Timing timing = measure(folder);
    Path operators = folder.resolve(Profiler.OPERATORS);
    Path recording = folder.resolve(Profiler.RECORDING);
    if (Files.notExists(operators) || Files.notExists(recording)) {
      throw new RunException(
          "the worker has left no profile in " + folder + ": its " + STDERR + " says why");
    }
    console.note("Drawing what was recorded");
    FlameGraph graph =
        ProfileGraph.of(recording, workload.name(), TimedCall.name(workload), timing.nanos());
    Path flames = folder.resolve(FLAMES);
    Files.writeString(flames, graph.svg(subtitle(timing)));
    console.result(
        "%s of %s by %s: %s"
            .formatted(workload.name(), study.model().name(), engine.spec(), timed(timing)));
    console.blank();
    console.table(table(ProfileFile.read(operators), timing));
    console.blank();
    List.of(operators, recording, flames).forEach(file -> console.result(file.toString()));
  }

  private Timing measure(Path folder) throws WorkerException {
    Map<String, String> options = new HashMap<>(engine.options());
    options.put(Profiler.OPTION, folder.toAbsolutePath().toString());
    try (TemporaryFolder scratch = TemporaryFolder.make();
        Console.Watching watching = console.watch()) {
      Workers workers =
          new Workers(
              study.model(),
              study.settings(),
              EngineRegistry.system(),
              _ -> folder.resolve(STDERR),
              scratch.path());
      watching.progress("loading", 0, study.model().name());
      try (WorkerProcess worker = workers.start("profile", engine.name(), options, PATIENT)) {
        workers.load(worker, options);
        List<int[]> texts = new ArrayList<>();
        for (String text : Texts.prompts()) {
          texts.add(worker.tokenize(text, false).value());
        }
        Prompts prompts = Prompts.of(study, texts);
        warmUp(worker, prompts, watching);
        worker.reset();
        Timing timing = repeat(worker, prompts, watching);
        watching.progress("writing", 0, "the recording");
        return timing;
      }
    }
  }

  /** As before a trial: until times settle, or the design's cap. */
  private void warmUp(WorkerProcess worker, Prompts prompts, Console.Watching watching)
      throws WorkerException {
    Study.Design design = study.design();
    List<Double> times = new ArrayList<>();
    long started = System.nanoTime();
    while (times.size() < WarmUp.LEAST_ITERATIONS
        || (!WarmUp.settled(times.stream().mapToDouble(d -> d).toArray())
            && times.size() < design.warmUpCap()
            && System.nanoTime() - started < design.warmUpSeconds() * 1e9)) {
      watching.progress("warming up", (double) times.size() / design.warmUpCap(), "");
      times.add((double) TimedCall.of(worker, workload, prompts, times.size(), false).nanos());
    }
  }

  private Timing repeat(WorkerProcess worker, Prompts prompts, Console.Watching watching)
      throws WorkerException {
    long started = System.nanoTime();
    long nanos = 0;
    int calls = 0;
    double share = 0;
    while (share < 1 && calls < MOST_CALLS) {
      watching.progress("profiling " + workload.name(), share, calls + " calls");
      nanos += TimedCall.of(worker, workload, prompts, calls, false).nanos();
      calls++;
      share = (double) (System.nanoTime() - started) / LENGTH.toNanos();
    }
    return new Timing(calls, nanos);
  }

  private String table(List<ProfiledKernels.Line> lines, Timing timing) {
    Table table = new Table(console.style());
    table.column("operator", Align.LEFT).column("kernel", Align.LEFT).column("calls", Align.RIGHT);
    table.column("ms", Align.RIGHT).column("share", Align.RIGHT);
    table.column("GB/s", Align.RIGHT).column("GMAC/s", Align.RIGHT);
    long outside = timing.nanos();
    for (ProfiledKernels.Line line : lines) {
      outside -= line.nanos();
      table.row(
          line.operator(),
          line.kernel(),
          Format.count(line.calls()),
          millis(line.nanos()),
          share(line.nanos(), timing),
          rate(line.bytes(), line.nanos()),
          rate(line.products(), line.nanos()));
    }
    table.row(ProfileGraph.OUTSIDE, "", "", millis(outside), share(outside, timing), "", "");
    return table.render();
  }

  private static String millis(long nanos) {
    return Format.decimals(nanos / 1e6, 1);
  }

  private static String share(long nanos, Timing timing) {
    return Format.percent((double) nanos / timing.nanos(), 1);
  }

  /** Per nanosecond, which is thousand millions a second. */
  private static String rate(long amount, long nanos) {
    return amount == 0 ? "–" : Format.significant((double) amount / Math.max(1, nanos), 3);
  }

  private static String timed(Timing timing) {
    return "%s calls in %s"
        .formatted(Format.count(timing.calls()), Format.duration(timing.nanos()));
  }

  private String subtitle(Timing timing) {
    return "%s, %s, %d threads, %s: operators and their kernels by time; %s: Java stacks, sampled"
        .formatted(
            study.model().name(),
            engine.spec(),
            study.settings().threads(),
            timed(timing),
            ProfileGraph.OUTSIDE);
  }
}
