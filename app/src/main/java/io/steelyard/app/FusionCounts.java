package io.steelyard.app;

import io.steelyard.engines.steelyard.Profiler;
import io.steelyard.kernels.ProfileFile;
import io.steelyard.kernels.ProfiledKernels;
import io.steelyard.lab.TemporaryFolder;
import io.steelyard.lab.parity.TimedCall;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.lab.text.Prompts;
import io.steelyard.lab.text.Texts;
import io.steelyard.lab.worker.EngineRegistry;
import io.steelyard.lab.worker.Timeouts;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.lab.worker.WorkerProcess;
import io.steelyard.lab.worker.Workers;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Counts what the operators of a call do, one call of each workload and label; times nothing. */
final class FusionCounts {
  /**
   * What an operator did in one call of a workload.
   *
   * @param operator such as {@code matmul}
   * @param calls of the operator
   * @param weightBytes of weights and of cached keys and values that they read
   * @param activationBytes of activations that they read and wrote
   */
  record Count(
      String label,
      String workload,
      String operator,
      long calls,
      long weightBytes,
      long activationBytes) {}

  /** The file in a run's directory that keeps the counts. */
  static final String FILE = "fusion.json";

  /** The recording is written when the worker is closed. */
  private static final Timeouts PATIENT = Timeouts.DEFAULT.withClose(Duration.ofMinutes(2));

  private FusionCounts() {}

  /** Of every label and workload of a study. */
  static List<Count> of(Study study, Console console) throws WorkerException, IOException {
    List<Count> counts = new ArrayList<>();
    int all = study.engines().size() * study.workloads().size();
    int done = 0;
    try (TemporaryFolder scratch = TemporaryFolder.make();
        Console.Watching watching = console.watch()) {
      Workers workers =
          new Workers(
              study.model(),
              study.settings(),
              EngineRegistry.system(),
              _ -> scratch.path().resolve("stderr.log"),
              scratch.path());
      for (String label : study.engines().keySet()) {
        for (Workload workload : study.workloads()) {
          watching.progress("counting", (double) done++ / all, label + ": " + workload.name());
          counts.addAll(of(study, label, workload, workers, scratch.path()));
        }
      }
      watching.progress("counting", 1, "done");
    }
    return counts;
  }

  private static List<Count> of(
      Study study, String label, Workload workload, Workers workers, Path scratch)
      throws WorkerException, IOException {
    Path folder = scratch.resolve(label + "-" + workload.name());
    Study.Engine engine = study.engines().get(label);
    Map<String, String> options = new HashMap<>(engine.options());
    options.put(Profiler.OPTION, folder.toString());
    try (WorkerProcess worker = workers.start("count", engine.name(), options, PATIENT)) {
      var _ = workers.load(worker, options);
      List<int[]> texts = new ArrayList<>();
      for (String text : Texts.prompts()) {
        texts.add(worker.tokenize(text, false).value());
      }
      var _ = TimedCall.of(worker, workload, Prompts.of(study, texts), 0, false);
    }
    Map<String, Count> byOperator = new TreeMap<>();
    for (ProfiledKernels.Line line : ProfileFile.read(folder.resolve(Profiler.OPERATORS))) {
      byOperator.merge(
          line.operator(),
          new Count(
              label,
              workload.name(),
              line.operator(),
              line.calls(),
              line.bytes(),
              line.activations()),
          FusionCounts::sum);
    }
    return List.copyOf(byOperator.values());
  }

  private static Count sum(Count a, Count b) {
    return new Count(
        a.label(),
        a.workload(),
        a.operator(),
        a.calls() + b.calls(),
        a.weightBytes() + b.weightBytes(),
        a.activationBytes() + b.activationBytes());
  }
}
