package io.steelyard.lab.run;

import io.steelyard.lab.RunException;
import io.steelyard.lab.benchmark.BenchmarkProtocol;
import io.steelyard.lab.environment.Frequency;
import io.steelyard.lab.parity.EngineParity;
import io.steelyard.lab.parity.EngineParity.Output;
import io.steelyard.lab.parity.TimedCall;
import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Entry.Role;
import io.steelyard.lab.record.Journal;
import io.steelyard.lab.run.BlockLoop.Place;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.lab.text.Prompts;
import io.steelyard.lab.worker.EngineInfo;
import io.steelyard.lab.worker.LoadReport;
import io.steelyard.lab.worker.MachineCounters;
import io.steelyard.lab.worker.PageCache;
import io.steelyard.lab.worker.ProcessMemory;
import io.steelyard.lab.worker.Timed;
import io.steelyard.lab.worker.Timeouts;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.lab.worker.WorkerProcess;
import io.steelyard.lab.worker.Workers;
import io.steelyard.stats.WarmUp;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Fresh processes of the cells of a workload: start, load, warm up, trials, close; every step in
 * the journal.
 *
 * <p>One works at a time. They are started and warmed up one after the other; then they take turns
 * at trials, each stopped while another works. So the trials that are compared lie seconds apart,
 * where the machine is most alike: it drifts by more from one process to the next than from call to
 * call. What only a fresh process can show, such as a cold start, each does alone; and groups whose
 * processes don't fit into memory together follow one another.
 *
 * <p>Where labels share a process they work one after the other, each loaded anew. Of such a
 * process's memory nothing is recorded: it is no label's own. A label is warmed up there with the
 * plan's first workload alone. Nor is a result proved once more in the end: that would take as long
 * as a trial, and what the engine checks of timed calls stands.
 */
final class ForkRunner implements BlockLoop.Forks {
  /** Compilation under this share of the last warm-up calls' time counts as none. */
  private static final double COMPILING = 0.01;

  /** A call that takes this many times what it took in the parity run hangs. */
  private static final int HANGING = 20;

  /** What is loaded from disk has no more of its pages in the page cache. */
  private static final double MOST_CACHED = 0.01;

  private static final Duration LEAST_PATIENCE = Duration.ofSeconds(60);

  private final Study study;
  private final Workers workers;
  private final Prompts prompts;
  private final Journal journal;
  private final Map<String, EngineParity> parity;
  private final Optional<SharedWorkers> shared;

  /**
   * @param parity by label, what each timed call must give, as the parity run gave it
   */
  ForkRunner(
      Study study,
      Workers workers,
      Prompts prompts,
      Journal journal,
      Map<String, EngineParity> parity) {
    this(study, workers, prompts, journal, parity, Optional.empty());
  }

  /**
   * @param shared the processes, where labels share them; the caller closes them
   */
  ForkRunner(
      Study study,
      Workers workers,
      Prompts prompts,
      Journal journal,
      Map<String, EngineParity> parity,
      Optional<SharedWorkers> shared) {
    this.parity = parity;
    this.shared = shared;
    this.study = study;
    this.workers = workers;
    this.prompts = prompts;
    this.journal = journal;
  }

  /** Runs the processes to their end. What goes wrong with an engine is recorded, not thrown. */
  @Override
  public void run(List<Place> places) {
    boolean alone = places.getFirst().cell().workload().kind() == Workload.Kind.START;
    if ((alone || shared.isPresent()) && places.size() > 1) {
      places.forEach(place -> run(List.of(place)));
      return;
    }
    places.stream()
        .collect(
            Collectors.groupingBy(
                place -> study.groupOf(place.cell()), TreeMap::new, Collectors.toList()))
        .values()
        .forEach(group -> takeTurns(group, alone));
  }

  private void takeTurns(List<Place> places, boolean alone) {
    List<Fork> forks = places.stream().map(Fork::new).toList();
    try {
      forks.forEach(fork -> fork.step(fork::begin));
      for (int trial = 0; trial < (alone ? 0 : places.getFirst().trials()); trial++) {
        int index = trial;
        // Never one twice in a row: it would find caches that the others don't.
        forks.forEach(fork -> fork.step(() -> fork.trial(index)));
      }
      forks.forEach(fork -> fork.step(fork::finish));
    } finally {
      forks.forEach(Fork::close);
    }
  }

  /** The calls that a process of a workload makes: of a cold start, the ones after it too. */
  private static List<Workload> calls(Workload workload) {
    return workload.kind() == Workload.Kind.START
        ? List.of(
            workload,
            Workload.prefill(workload.prompt(), workload.depth()),
            Workload.decode(workload.generate(), workload.depth()))
        : List.of(workload);
  }

  /**
   * How long a process's calls may take before it is ended.
   *
   * @param estimates by workload name, what a call took in the parity run in nanoseconds; where it
   *     didn't make the call the limit is the general one
   */
  static Timeouts timeouts(Workload workload, Map<String, Long> estimates) {
    Duration patience = LEAST_PATIENCE;
    for (Workload call : calls(workload)) {
      Long estimate = estimates.get(call.name());
      if (estimate == null) {
        return Timeouts.DEFAULT;
      }
      Duration hanging = Duration.ofNanos(estimate).multipliedBy(HANGING);
      patience = patience.compareTo(hanging) < 0 ? hanging : patience;
    }
    return Timeouts.DEFAULT.withCall(patience);
  }

  /**
   * Which prompt a trial works on: each trial of a block on another one, the same for every label.
   *
   * @param block from 1
   * @param trials of a process
   * @param prompts how many there are
   */
  static int trialPrompt(int block, int trials, int trial, int prompts) {
    return Math.floorMod((long) (block - 1) * trials + trial, prompts);
  }

  /** The same for a warm-up call: never a trial's prompt, which it might find in a cache later. */
  static int warmUpPrompt(int block, int trials, int call, int prompts) {
    int others = prompts - trials;
    return trialPrompt(block, trials, others > 0 ? trials + call % others : call, prompts);
  }

  /** What a process does while no other works. */
  @FunctionalInterface
  private interface Step {
    void run() throws WorkerException, IOException;
  }

  private final class Fork {
    private final Place place;
    private final EngineParity expected;
    private WorkerProcess worker;
    private boolean ended;
    private boolean settled = true;
    private ProcessMemory memory = new ProcessMemory(0, 0, 0);
    private long residentSum;
    private int residentCount;
    private Map<String, Long> parts = Map.of();
    private Optional<Long> mapped = Optional.empty();

    Fork(Place place) {
      this.place = place;
      expected = parity.get(place.cell().label());
    }

    /** Takes a step, unless the process has ended, and stops it again until the next. */
    void step(Step step) {
      if (ended) {
        return;
      }
      try {
        if (worker != null) {
          worker.resume();
        }
        step.run();
        if (!ended) {
          worker.pause();
        }
      } catch (WorkerException e) {
        fail(e.getMessage(), e);
      } catch (IOException e) {
        fail("the process's own figures can't be read: " + e.getMessage(), e);
      }
    }

    /** Starts, loads and warms up. */
    void begin() throws WorkerException, IOException {
      Study.Engine engine = study.engines().get(place.cell().label());
      long asked = System.nanoTime();
      worker =
          shared.isPresent()
              ? shared.get().worker("block-" + place.block() + "-" + place.attempt(), engine)
              : workers.start(
                  place.cell().id(),
                  engine.name(),
                  engine.options(),
                  timeouts(place.cell().workload(), expected.estimates()));
      EngineInfo info = worker.info();
      refuseOtherBuild(info.build());
      long ready = worker.processMemory().resident();
      if (place.cell().workload().isFromDisk()) {
        dropFiles();
      }
      Timed<LoadReport> loaded =
          worker.load(workers.on(study.modelOf(place.cell().label())).request(engine.options()));
      journal.add(
          new Entry.ForkStart(
              place.block(),
              place.attempt(),
              place.cell().id(),
              place.fork(),
              worker.pid(),
              info.hosted(),
              info.build(),
              // A process that was there already took no time to start.
              Math.max(0, worker.readyNanos() - Math.max(asked, worker.startedNanos())),
              loaded.value().phases().values().stream().mapToLong(Long::longValue).sum(),
              loaded.outsideNanos(),
              loaded.value().phases(),
              ready,
              loaded.value().settings()));
      if (place.cell().workload().kind() == Workload.Kind.START) {
        start();
      } else if (shared.isEmpty() || isFirstWorkload()) {
        warmUp();
      }
    }

    private boolean isFirstWorkload() {
      return place.cell().workload().equals(study.workloads().getFirst());
    }

    /** Drops the model from the page cache. */
    private void dropFiles() throws IOException, WorkerException {
      Path files = Path.of(study.modelOf(place.cell().label()).file());
      double left = PageCache.drop(files);
      if (left > MOST_CACHED) {
        throw new IOException(
            "%.0f %% of %s stay in the page cache, so it can't be loaded from disk: another process has it mapped, or the system doesn't allow it"
                .formatted(100 * left, files));
      }
    }

    void trial(int index) throws WorkerException, IOException {
      call(place.cell().workload(), Role.TRIAL, index, promptOf(index));
    }

    /** Proves the result where that is still to be done, and ends the process. */
    void finish() throws WorkerException, IOException {
      String failure = "";
      if (shared.isEmpty()) {
        failure = proof();
        memory = worker.processMemory();
        mapped =
            Optional.of(
                ProcessMemory.mapped(
                    worker.pid(), Path.of(study.modelOf(place.cell().label()).file())));
        parts = worker.memory().value().parts();
      }
      close();
      end(failure);
    }

    /** Ends the process, or leaves it to the next label. */
    void close() {
      if (worker != null && shared.isPresent()) {
        worker.pause();
      } else if (worker != null) {
        worker.close();
      }
    }

    /**
     * Two builds in one cell would be two engines under one name: neither the build that parity
     * proved nor that of the label's earlier processes, maybe before an interruption, may change.
     */
    private void refuseOtherBuild(String build) {
      String label = place.cell().label();
      Set<String> builds = new LinkedHashSet<>(List.of(expected.info().build()));
      for (Entry entry : journal.entries()) {
        if (entry instanceof Entry.ForkStart start && Cell.label(start.cell()).equals(label)) {
          builds.add(start.build());
        }
      }
      builds.remove(build);
      if (!builds.isEmpty()) {
        throw new RunException(
            label
                + " was rebuilt since this run began (build "
                + build
                + " where "
                + String.join(", ", builds)
                + " was measured or proved): two builds can't stand in one cell; start a new run");
      }
    }

    private void start() throws WorkerException, IOException {
      List<Workload> calls = calls(place.cell().workload());
      call(calls.getFirst(), Role.FIRST, 0, promptOf(0));
      for (int i = 1; i < calls.size(); i++) {
        call(calls.get(i), Role.WARM_UP, i - 1, promptOf(0));
      }
    }

    /**
     * A trial is warmed with itself: the same calls, until their times settle and compilation has
     * all but ended, or the cap is reached. A cell whose times have settled by then is steady.
     */
    private void warmUp() throws WorkerException, IOException {
      Study.Design design = study.design();
      List<Entry.Call> calls = new ArrayList<>();
      long started = System.nanoTime();
      settled = false;
      boolean warm = false;
      while (!warm
          && calls.size() < design.warmUpCap()
          && (calls.size() < WarmUp.LEAST_ITERATIONS
              || (System.nanoTime() - started) / 1e9 < design.warmUpSeconds())) {
        int prompt = warmUpPrompt(place.block(), place.trials(), calls.size(), prompts.count());
        calls.add(call(place.cell().workload(), Role.WARM_UP, calls.size(), prompt));
        double[] times = calls.stream().mapToDouble(Entry.Call::nanos).toArray();
        settled = WarmUp.settled(times);
        // What the runtime compiles around a hosted engine is none of the engine's own code.
        warm = settled && (worker.info().hosted() || compilingShare(calls) < COMPILING);
      }
    }

    private static double compilingShare(List<Entry.Call> calls) {
      List<Entry.Call> last =
          calls.subList(Math.max(0, calls.size() - WarmUp.LEAST_ITERATIONS), calls.size());
      long compiling = last.stream().mapToLong(Entry.Call::compileNanos).sum();
      long all = last.stream().mapToLong(Entry.Call::outsideNanos).sum();
      return (double) compiling / all;
    }

    private int promptOf(int trial) {
      return trialPrompt(place.block(), place.trials(), trial, prompts.count());
    }

    /** Tokens of a call, or operations. */
    private long accountsFor(Workload workload) {
      return workload.kind() == Workload.Kind.OPERATION
          ? Long.parseLong(
              study
                  .engines()
                  .get(place.cell().label())
                  .options()
                  .get(BenchmarkProtocol.operations(workload.title())))
          : workload.tokens();
    }

    /**
     * Timed operations were held against each other; now their result is held to the baseline's.
     */
    private String proof() throws WorkerException {
      Workload workload = place.cell().workload();
      boolean differs =
          workload.kind() == Workload.Kind.OPERATION
              && !TimedCall.of(worker, workload, prompts, 0, true)
                  .matches(expected.outputs().get(workload.name()).getFirst());
      return differs
          ? "it gave something else than %s in the end"
              .formatted(BenchmarkProtocol.truth(study.engines().get(place.cell().label()).name()))
          : "";
    }

    private Entry.Call call(Workload workload, Role role, int index, int prompt)
        throws WorkerException, IOException {
      long compiledBefore = worker.compileNanos();
      MachineCounters before = MachineCounters.read(worker.pid());
      TimedCall timed = TimedCall.of(worker, workload, prompts, prompt, false);
      long sinceStart = System.nanoTime() - worker.startedNanos();
      MachineCounters spent = MachineCounters.read(worker.pid()).since(before);
      List<Output> outputs = expected.outputs().get(workload.name());
      Entry.Call entry =
          new Entry.Call(
              place.block(),
              place.attempt(),
              place.cell().id(),
              place.fork(),
              TimedCall.name(workload),
              role,
              index,
              prompt,
              accountsFor(workload),
              timed.nanos(),
              timed.outsideNanos(),
              sinceStart,
              outputs == null || timed.matches(outputs.get(prompt)),
              compiledBefore == 0 ? 0 : worker.compileNanos() - compiledBefore,
              spent.stealShare(),
              spent.minorFaults() + spent.majorFaults(),
              spent.voluntarySwitches() + spent.involuntarySwitches(),
              Frequency.megahertz(),
              timed.counts());
      journal.add(entry);
      if (shared.isEmpty()) {
        residentSum += worker.processMemory().resident();
        residentCount++;
      }
      return entry;
    }

    /**
     * Records a failure, unless it is the lab's own end that took the worker away: then the process
     * counts for nothing and is repeated.
     */
    void fail(String failure, Exception cause) {
      if (shuttingDown()) {
        throw new RunException("stopped: './steelyard resume' goes on from here", cause);
      }
      if (worker != null) {
        worker.close();
      }
      end(failure);
    }

    private void end(String failure) {
      ended = true;
      journal.add(
          new Entry.ForkEnd(
              place.block(),
              place.attempt(),
              place.cell().id(),
              place.fork(),
              settled,
              memory.peak(),
              memory.resident(),
              memory.proportional(),
              residentCount == 0 ? 0 : residentSum / residentCount,
              parts,
              failure,
              mapped));
    }
  }

  /** Whether this JVM is ending, and its workers with it. */
  static boolean shuttingDown() {
    Thread probe = new Thread(() -> {});
    try {
      // The one question that the JVM answers from the first moment of its shutdown on.
      Runtime.getRuntime().addShutdownHook(probe);
      Runtime.getRuntime().removeShutdownHook(probe);
      return false;
    } catch (IllegalStateException e) {
      return true;
    }
  }
}
