package io.steelyard.lab.run;

import io.steelyard.lab.RunListener;
import io.steelyard.lab.TemporaryFolder;
import io.steelyard.lab.benchmark.Benchmark;
import io.steelyard.lab.benchmark.BenchmarkProtocol;
import io.steelyard.lab.parity.EngineParity;
import io.steelyard.lab.parity.EngineParity.Output;
import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Journal;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.StudyBuilder;
import io.steelyard.lab.study.Workload;
import io.steelyard.lab.text.Prompts;
import io.steelyard.lab.worker.EngineInfo;
import io.steelyard.lab.worker.EngineRegistry;
import io.steelyard.lab.worker.KernelReport;
import io.steelyard.lab.worker.KernelRequest;
import io.steelyard.lab.worker.LoadReport;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.lab.worker.WorkerProcess;
import io.steelyard.lab.worker.Workers;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Runs a study of the user's own benchmark: first each variant on each workload must give what the
 * baseline gives, then they are measured in the same blocks and judged by the same statistics as
 * engines are. A variant is a label, and a workload a metric.
 */
public final class BenchmarkRun {
  /** What one timed call takes about: long against the clock, short against a disturbance. */
  private static final long CALL_NANOS = 50_000_000;

  /** What agrees with the baseline. */
  private static final Output AGREES = new Output(new int[0], new float[0], 0);

  /** What operations did by their own count: by label, by workload. */
  public static final String COUNTS = "counts.json";

  /** A workload of a benchmark has an input of its own. */
  private static final Prompts NO_PROMPTS = new Prompts(List.of(new int[1]));

  private final RunDirectory directory;
  private final EngineRegistry registry;
  private final RunListener listener;

  /** A run whose plan is one of {@link #study}. */
  public BenchmarkRun(RunDirectory directory, EngineRegistry registry, RunListener listener) {
    this.directory = directory;
    this.registry = registry;
    this.listener = listener;
  }

  /**
   * The study of a benchmark.
   *
   * @param options where the variants' processes find it: {@link BenchmarkProtocol#CLASS_PATH},
   *     {@link BenchmarkProtocol#CLASS} and {@link BenchmarkProtocol#JVM_FLAGS}
   */
  public static Study study(
      String command,
      Benchmark<?, ?> benchmark,
      Map<String, String> options,
      Study.Settings settings,
      Study.Design design) {
    Map<String, Study.Engine> variants = new LinkedHashMap<>();
    for (String variant : benchmark.variants().keySet()) {
      Map<String, String> own = new LinkedHashMap<>(options);
      own.put(BenchmarkProtocol.BENCHMARK, benchmark.name());
      own.put(BenchmarkProtocol.VARIANT, variant);
      variants.put(variant, new Study.Engine(variant, BenchmarkProtocol.ENGINE, own));
    }
    return study(command, benchmark.name(), variants, benchmark.workloads().keySet())
        .baseline(benchmark.baseline())
        .settings(settings)
        .design(design)
        .build();
  }

  /**
   * Begins the study of operations that engines serve as {@code kernel} calls by the name of a
   * workload, and prove where the shape holds {@link BenchmarkProtocol#PROVE}.
   *
   * @param name of what is studied
   * @param variants by label
   */
  public static StudyBuilder study(
      String command,
      String name,
      Map<String, Study.Engine> variants,
      Collection<String> workloads) {
    return Study.builder(command)
        .model(new Study.Model(name, "", "", false, 0))
        .engines(variants)
        .metrics(workloads.stream().map(workload -> Study.OPERATION + workload).toList())
        .shape(new Study.Shape(0, 0, 0, 1));
  }

  /** Whether a study is one of benchmarks. */
  public static boolean is(Study study) {
    return study.metrics().stream().allMatch(metric -> metric.startsWith(Study.OPERATION));
  }

  /** Proves, measures and summarises. */
  public StudyRun.Outcome run() throws WorkerException {
    try (TemporaryFolder scratch = TemporaryFolder.make();
        Journal journal = Journal.open(directory.journalFile())) {
      Study plan = directory.plan();
      Workers workers =
          new Workers(plan.model(), plan.settings(), registry, directory::stderr, scratch.path());
      try (SharedWorkers shared = new SharedWorkers(workers)) {
        return run(
            plan,
            workers,
            plan.sharesProcesses() ? Optional.of(shared) : Optional.empty(),
            journal);
      }
    }
  }

  private StudyRun.Outcome run(
      Study plan, Workers workers, Optional<SharedWorkers> shared, Journal journal)
      throws WorkerException {
    Proofs proofs = proofs(plan, workers, shared);
    Study study = plan.withOptions(label -> proofs.operations.getOrDefault(label, Map.of()));
    directory.write("plan.json", Json.pretty(study));
    directory.write("parity.json", Json.pretty(proofs.judged));
    directory.write("engines.json", "{}");
    if (!proofs.counts.isEmpty()) {
      directory.write(COUNTS, Json.pretty(proofs.counts));
    }
    Function<List<Entry>, Summariser> summariser =
        entries -> new Summariser(study, Map.of(), proofs.judged, List.of(), entries);
    if (proofs.proved.containsKey(study.baseline())) {
      listener.note(new BlockPlan(forkSeconds(study, proofs.proved)).expectation(study));
      new BlockLoop(
              study,
              workers,
              journal,
              proofs.proved.keySet(),
              new ForkRunner(study, workers, NO_PROMPTS, journal, proofs.proved, shared),
              Look.atFirst(study, proofs.proved),
              entries -> Look.at(study, summariser.apply(entries).summarise(""), entries),
              listener)
          .run();
    }
    List<Entry> measured = journal.entries();
    return StudyRun.Outcome.of(
        directory, study, summariser.apply(measured), measured, proofs.differing, proofs.broken);
  }

  /**
   * What all variants did before anything is timed.
   *
   * @param proved by label, those that gave what the baseline gives
   * @param differing labels that didn't
   * @param broken a sentence for each label that could not be judged
   * @param operations by label, options that say how many operations a call of each workload has
   * @param counts by label and workload, what an operation did by its own count
   */
  private record Proofs(
      Map<String, EngineParity> proved,
      List<Summary.Parity> judged,
      List<String> differing,
      List<String> broken,
      Map<String, Map<String, String>> operations,
      Map<String, Map<String, Map<String, Long>>> counts) {}

  private Proofs proofs(Study plan, Workers workers, Optional<SharedWorkers> shared) {
    Proofs proofs =
        new Proofs(
            new LinkedHashMap<>(),
            new ArrayList<>(),
            new ArrayList<>(),
            new ArrayList<>(),
            new LinkedHashMap<>(),
            new LinkedHashMap<>());
    int done = 0;
    for (String label : plan.engines().keySet()) {
      listener.progress("proving", (double) done++ / plan.engines().size(), label);
      String failure = "";
      try {
        Proof proof = prove(plan, label, workers, shared);
        proofs.operations.put(label, proof.operations);
        if (!proof.counts.isEmpty()) {
          proofs.counts.put(label, proof.counts);
        }
        if (proof.differs.isEmpty()) {
          proofs.proved.put(label, proof.parity);
        } else {
          failure =
              "on %s it gives something else than %s"
                  .formatted(
                      proof.differs, BenchmarkProtocol.truth(plan.engines().get(label).name()));
          proofs.differing.add(label);
        }
      } catch (WorkerException e) {
        failure = e.getMessage();
        proofs.broken.add(label + " could not be judged: " + failure);
      }
      proofs.judged.add(judged(plan, label, failure));
    }
    listener.progress("proving", 1, "done");
    return proofs;
  }

  /**
   * What a variant did before it is timed.
   *
   * @param differs the workload on which it gave something else than it should; empty where on none
   * @param operations options that say how many operations a call of each workload has
   * @param counts by workload, what an operation did by its own count
   */
  private record Proof(
      EngineParity parity,
      String differs,
      Map<String, String> operations,
      Map<String, Map<String, Long>> counts) {}

  private static Proof prove(
      Study plan, String label, Workers workers, Optional<SharedWorkers> shared)
      throws WorkerException {
    Study.Engine engine = plan.engines().get(label);
    if (shared.isEmpty()) {
      try (WorkerProcess worker =
          workers.start("proof-" + label, engine.name(), engine.options())) {
        return prove(plan, label, workers, worker, worker.startedNanos());
      }
    }
    WorkerProcess worker = shared.get().worker("proof", engine);
    long started = System.nanoTime();
    try {
      Proof proof = prove(plan, label, workers, worker, started);
      worker.pause();
      return proof;
    } catch (WorkerException e) {
      worker.close();
      throw e;
    }
  }

  private static Proof prove(
      Study plan, String label, Workers workers, WorkerProcess worker, long started)
      throws WorkerException {
    Study.Engine engine = plan.engines().get(label);
    Map<String, String> operations = new LinkedHashMap<>();
    Map<String, Long> estimates = new LinkedHashMap<>();
    Map<String, List<Output>> outputs = new LinkedHashMap<>();
    Map<String, Map<String, Long>> counts = new LinkedHashMap<>();
    EngineInfo info = worker.info();
    LoadReport loaded = workers.load(worker, engine.options());
    long startNanos = System.nanoTime() - started;
    String differs = "";
    for (Workload workload : plan.workloads()) {
      if (plan.leavesOut(new Cell(label, workload))) {
        continue;
      }
      KernelReport first = call(worker, workload, 1, true);
      first.counts().ifPresent(counted -> counts.put(workload.title(), counted));
      if (first.error() != 0 && differs.isEmpty()) {
        differs = workload.title();
      }
      if (!differs.isEmpty()) {
        continue; // nothing of it will be timed
      }
      String option = BenchmarkProtocol.operations(workload.title());
      String known = engine.options().get(option);
      long count = known == null ? enough(worker, workload) : Long.parseLong(known);
      operations.put(option, Long.toString(count));
      estimates.put(
          workload.name(),
          known == null ? Math.max(CALL_NANOS, first.nanos()) : count * first.nanos());
      outputs.put(workload.name(), List.of(AGREES));
    }
    EngineParity parity =
        new EngineParity(
            label,
            "",
            info,
            loaded.settings(),
            List.of(),
            "",
            "",
            null,
            null,
            new int[0],
            outputs,
            estimates,
            startNanos);
    return new Proof(parity, differs, operations, counts);
  }

  /** As many operations as fill a call, by calls that grow until one is long enough. */
  private static long enough(WorkerProcess worker, Workload workload) throws WorkerException {
    long operations = 1;
    long nanos = call(worker, workload, operations, false).nanos();
    while (nanos < CALL_NANOS / 2) {
      operations *= 2;
      nanos = call(worker, workload, operations, false).nanos();
    }
    // What is compiled by now is faster than what was: once more, by the time it takes now.
    nanos = Math.max(1, call(worker, workload, operations, false).nanos());
    return Math.max(1, Math.round((double) operations * CALL_NANOS / nanos));
  }

  private static KernelReport call(
      WorkerProcess worker, Workload workload, long operations, boolean proving)
      throws WorkerException {
    Map<String, Long> shape = new LinkedHashMap<>();
    shape.put(BenchmarkProtocol.OPERATIONS, operations);
    if (proving) {
      shape.put(BenchmarkProtocol.PROVE, 1L);
    }
    return worker.kernel(new KernelRequest(workload.title(), shape, 0)).value();
  }

  private static Summary.Parity judged(Study plan, String label, String failure) {
    return new Summary.Parity(
        label,
        plan.model().name(),
        "",
        true,
        null,
        null,
        null,
        null,
        Optional.empty(),
        null,
        failure.isEmpty(),
        failure);
  }

  private static double forkSeconds(Study study, Map<String, EngineParity> proved) {
    double seconds = 0;
    for (Cell cell : study.cells()) {
      EngineParity parity = proved.get(cell.label());
      if (parity != null) {
        double calls = (double) study.design().warmUpCap() / 2 + study.design().trials();
        seconds +=
            (parity.startNanos() + calls * parity.estimates().get(cell.workload().name())) / 1e9;
      }
    }
    return seconds;
  }
}
