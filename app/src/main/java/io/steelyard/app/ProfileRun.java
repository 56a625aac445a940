package io.steelyard.app;

import io.steelyard.engines.steelyard.Profiler;
import io.steelyard.engines.steelyard.SteelyardEngine;
import io.steelyard.engines.steelyard.SteelyardProvider;
import io.steelyard.lab.TemporaryFolder;
import io.steelyard.lab.parity.TimedCall;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.lab.text.Prompts;
import io.steelyard.lab.text.Texts;
import io.steelyard.lab.worker.EngineRegistry;
import io.steelyard.lab.worker.EngineSpec;
import io.steelyard.lab.worker.Timeouts;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.lab.worker.WorkerProcess;
import io.steelyard.lab.worker.Workers;
import io.steelyard.reports.terminal.Format;
import io.steelyard.stats.WarmUp;
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
  private static final Duration LENGTH = Duration.ofSeconds(5);

  /** Calls of tiny models would otherwise fill the disk with events. */
  private static final int MOST_CALLS = 1000;

  /** The recording is written when the worker is closed. */
  private static final Timeouts PATIENT = Timeouts.DEFAULT.withClose(Duration.ofMinutes(2));

  private final Console console;
  private final Study study;
  private final String label;
  private final Study.Engine engine;
  private final Workload workload;

  private ProfileRun(Console console, Study study, String label, Workload workload) {
    this.console = console;
    this.study = study;
    this.label = label;
    engine = study.engines().get(label);
    this.workload = workload;
  }

  /** Refuses an engine that can't be profiled. */
  static void check(List<String> specs) {
    for (String text : specs) {
      EngineSpec engine = StudyOptions.parse(text);
      if (engine.options().containsKey(Profiler.OPTION)) {
        throw new UsageException(
            "--profile names the folder itself: leave %s= out of %s"
                .formatted(Profiler.OPTION, text));
      }
      if (!engine.name().equals(SteelyardProvider.NAME)) {
        throw new UsageException(
            "--profile times the operators of the engine steelyard alone, so it can't profile "
                + text);
      }
    }
  }

  /**
   * Profiles and prints each engine of a study at each of its workloads.
   *
   * @param study of which nothing else is used but the settings and the warm-up
   * @param runs where a folder for each one's files is made
   */
  static void each(Console console, Study study, Path runs) throws Exception {
    int all = study.workloads().size() * study.engines().size();
    int done = 0;
    for (Workload workload : study.workloads()) {
      for (String label : study.engines().keySet()) {
        if (done++ > 0) {
          console.blank();
        }
        if (all > 1) {
          console.note("Profile %d of %d: %s, %s".formatted(done, all, label, workload.name()));
        }
        ProfileRun run = new ProfileRun(console, study, label, workload);
        ProfileView.inFolder(runs, run::run);
      }
    }
  }

  private void run(Path folder) throws WorkerException {
    ProfileView.Timing timing = measure(folder);
    ProfileView view =
        new ProfileView(
            workload.name() + " by " + label,
            "%s of %s by %s".formatted(workload.name(), study.model().name(), label),
            "%s, %s"
                .formatted(
                    study.model().name(), Format.count(study.settings().threads(), "thread")),
            new ProfileGraph.Timed(SteelyardEngine.class, TimedCall.name(workload)));
    view.print(console, folder, timing);
  }

  private ProfileView.Timing measure(Path folder) throws WorkerException {
    Map<String, String> options = new HashMap<>(engine.options());
    options.put(Profiler.OPTION, folder.toAbsolutePath().toString());
    try (TemporaryFolder scratch = TemporaryFolder.make();
        Console.Watching watching = console.watch()) {
      Workers workers =
          new Workers(
              study.model(),
              study.settings(),
              EngineRegistry.system(),
              _ -> folder.resolve(ProfileView.STDERR),
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
        ProfileView.Timing timing = repeat(worker, prompts, watching);
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

  private ProfileView.Timing repeat(
      WorkerProcess worker, Prompts prompts, Console.Watching watching) throws WorkerException {
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
    return new ProfileView.Timing(calls, nanos);
  }
}
