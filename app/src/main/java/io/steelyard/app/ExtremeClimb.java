package io.steelyard.app;

import io.steelyard.app.ExtremeCost.Prediction;
import io.steelyard.engines.InstallException;
import io.steelyard.engines.attention.AttentionProblem;
import io.steelyard.lab.benchmark.BenchmarkProtocol;
import io.steelyard.lab.run.BenchmarkRun;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.reports.terminal.Format;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Variants of attention at lengths that double, each until something stops it. Every length is a
 * study of its own, of those variants whose predicted memory and time are within the limits, with a
 * run directory in the folder: so what was measured is on disk, and can be gone on with.
 */
final class ExtremeClimb {
  /** Calls that take longer are measured once, after the one that proves them. */
  private static final double LONG_CALL = 2;

  private static final double SHORT_CALL = 0.05;

  /** What processes, inputs and proofs of a variant take at the first length, in seconds. */
  private static final double FIRST_OVERHEAD = 3;

  /**
   * Limits.
   *
   * @param bytes of inputs, results and scratch memory together
   * @param passSeconds of one pass
   * @param from the first length
   * @param most no length is longer
   * @param budgetSeconds of everything
   * @param forks fresh processes of each variant at each length
   */
  record Limits(
      long bytes, double passSeconds, int from, int most, double budgetSeconds, int forks) {}

  /** What stopped a variant. */
  enum Stop {
    MEMORY,
    TIME,
    MAXIMUM,
    BUDGET,
    FAILED,
    INTERRUPTED
  }

  /** What was predicted of a length, and what was measured then. */
  record Step(Prediction predicted, ExtremeResult.Measured measured) {}

  /**
   * How far a variant got.
   *
   * @param reached the longest length that was measured; 0 where none was
   * @param steps by length, those that were measured
   * @param next what comes after the last and was only predicted; null at the maximum, and until it
   *     is predicted
   * @param why what stopped it, in a sentence
   */
  record Reach(
      String variant, int reached, List<Step> steps, Prediction next, Stop stop, String why) {
    Reach {
      steps = List.copyOf(steps);
    }
  }

  /** A variant on its way. */
  private final class Climber {
    private final String variant;
    private final ExtremeCost cost;
    private final List<Step> steps = new ArrayList<>();
    private double overhead = FIRST_OVERHEAD;
    private Prediction next;
    private Stop stop = Stop.INTERRUPTED;
    private String why = "the command was stopped";
    private boolean climbing = true;

    Climber(String variant) {
      this.variant = variant;
      cost = new ExtremeCost(problem, variant);
    }

    void stop(Stop what, String reason) {
      climbing = false;
      stop = what;
      why = reason;
    }

    /** Predicts a length, and stops where it is beyond a limit. */
    void predict(int length) {
      try {
        next = cost.at(length);
      } catch (IllegalArgumentException e) {
        stop(Stop.FAILED, e.getMessage());
        return;
      }
      if (next.bytes() > limits.bytes()) {
        stop(
            Stop.MEMORY,
            "%s needs about %s of memory, the limit is %s"
                .formatted(
                    AttentionProblem.name(length),
                    Format.bytes(next.bytes()),
                    Format.bytes(limits.bytes())));
      } else if (next.seconds() > limits.passSeconds()) {
        stop(
            Stop.TIME,
            "%s would take about %s s a pass%s, the limit is %s s"
                .formatted(
                    AttentionProblem.name(length),
                    Format.significant(next.seconds(), 2),
                    next.points() == 0 ? " by a rule of thumb" : "",
                    Format.significant(limits.passSeconds(), 2)));
      }
    }

    Reach reach() {
      int reached = steps.isEmpty() ? 0 : steps.getLast().predicted().length();
      return new Reach(variant, reached, steps, next, stop, why);
    }

    double calls() {
      return effort(this).calls() * Math.max(SHORT_CALL, next.seconds());
    }

    double seconds() {
      return calls() + overhead;
    }
  }

  private final AttentionProblem problem;
  private final Limits limits;
  private final String command;
  private final Path folder;
  private final Console console;
  private final AtomicBoolean stopping;
  private final Runnable afterEach;
  private final List<Climber> climbers = new ArrayList<>();
  private final long started = System.nanoTime();
  private int code = ExitCode.FINE;

  /**
   * @param folder where the runs lie
   * @param console where progress is told; nothing is printed as a result
   * @param stopping whether the command is being stopped: what fails then says nothing
   * @param afterEach runs after each length
   */
  ExtremeClimb(
      AttentionProblem problem,
      List<String> variants,
      Limits limits,
      String command,
      Path folder,
      Console console,
      AtomicBoolean stopping,
      Runnable afterEach) {
    this.problem = problem;
    this.limits = limits;
    this.command = command;
    this.folder = folder;
    this.console = console;
    this.stopping = stopping;
    this.afterEach = afterEach;
    variants.forEach(variant -> climbers.add(new Climber(variant)));
  }

  /** How far all have got by now. */
  synchronized List<Reach> reached() {
    return climbers.stream().map(Climber::reach).toList();
  }

  /** The scores that a pass of a variant computes, by its own account. */
  double scores(String variant, int length) {
    return climbers.stream()
        .filter(climber -> climber.variant.equals(variant))
        .findFirst()
        .orElseThrow()
        .cost
        .scores(length);
  }

  /** The exit code that fits what came of it. */
  int code() {
    return code;
  }

  /** Climbs until everything has stopped. */
  void run() throws WorkerException, InstallException, IOException, InterruptedException {
    for (long length = limits.from(); length <= limits.most(); length *= 2) {
      Deque<List<Climber>> groups = new ArrayDeque<>(groups(choose((int) length)));
      for (int number = 1; !groups.isEmpty(); number++) {
        List<Climber> again = measure((int) length, groups.removeFirst(), number);
        if (!again.isEmpty()) {
          groups.addFirst(again);
        }
      }
      afterEach.run();
    }
    synchronized (this) {
      for (Climber climber : climbers) {
        if (climber.climbing) {
          climber.stop(Stop.MAXIMUM, "the longest length that was asked for is reached");
        }
      }
    }
    afterEach.run();
  }

  /**
   * Those that are measured in one study: as many as the memory holds at once, since the processes
   * of a block wait for one another, and as have equally long calls.
   */
  private List<List<Climber>> groups(List<Climber> trying) {
    long free = AttentionStudy.freeMemory();
    List<List<Climber>> groups = new ArrayList<>();
    Effort effort = null;
    long bytes = 0;
    for (Climber climber :
        trying.stream().sorted(Comparator.comparing(c -> c.next.seconds() >= LONG_CALL)).toList()) {
      long own = climber.next.bytes() + AttentionStudy.PROCESS_BYTES;
      bytes += own;
      if (groups.isEmpty() || bytes > free || !effort(climber).equals(effort)) {
        groups.add(new ArrayList<>());
        effort = effort(climber);
        bytes = own;
      }
      groups.getLast().add(climber);
    }
    return groups;
  }

  /** Those that are within the limits; of the budget the cheapest get something first. */
  private synchronized List<Climber> choose(int length) {
    climbers.stream().filter(c -> c.climbing).forEach(climber -> climber.predict(length));
    double left = limits.budgetSeconds() - (System.nanoTime() - started) / 1e9;
    List<Climber> able =
        climbers.stream()
            .filter(climber -> climber.climbing)
            .sorted(Comparator.comparingDouble(Climber::seconds))
            .toList();
    for (Climber climber : able) {
      if (climber.seconds() > left) {
        climber.stop(
            Stop.BUDGET,
            "%s would take about %s s with its proof, of the budget %s s are left"
                .formatted(
                    AttentionProblem.name(length),
                    Format.significant(climber.seconds(), 2),
                    Format.significant(Math.max(0, left), 2)));
      } else {
        left -= climber.seconds();
      }
    }
    return climbers.stream().filter(climber -> climber.climbing).toList();
  }

  /**
   * Measures a length.
   *
   * @param number of the study among those of this length
   * @return those that have to be measured once more because the first of them failed, against
   *     which they would have been held
   */
  private List<Climber> measure(int length, List<Climber> trying, int number)
      throws WorkerException, InstallException, IOException, InterruptedException {
    long begun = System.nanoTime();
    String title = AttentionProblem.name(length) + (number == 1 ? "" : "-" + number);
    TitledRuns runs = new TitledRuns(folder);
    List<String> variants = trying.stream().map(climber -> climber.variant).toList();
    Optional<Path> earlier = runs.begun(title).filter(run -> ExtremeResult.isOf(run, variants));
    if (earlier.filter(ExtremeResult::isWhole).isEmpty()) {
      StudyConsole lab = new StudyConsole(console, false, (_, _, _) -> {});
      int ended =
          earlier.isPresent()
              ? lab.resume(folder, earlier.get().toString())
              : lab.begin(folder, title, study(length, trying));
      if (stopping.get()) {
        throw ExtremeReport.stopped(folder);
      }
      code = Math.max(code, ended);
    }
    ExtremeResult result = ExtremeResult.of(runs.begun(title).orElseThrow());
    double overhead = 0;
    for (Climber climber : trying) {
      overhead -= climber.calls();
    }
    overhead = Math.max(0, overhead + (System.nanoTime() - begun) / 1e9) / trying.size();
    List<Climber> again = new ArrayList<>();
    synchronized (this) {
      for (Climber climber : trying) {
        Optional<ExtremeResult.Measured> measured = result.measured(climber.variant);
        if (measured.isPresent()) {
          climber.steps.add(new Step(climber.next, measured.get()));
          climber.cost.measured(length, measured.get().seconds(), measured.get().scratchBytes());
          // Inputs and proofs grow with the length; processes start as fast.
          climber.overhead = 2 * overhead;
          climber.next = null;
        } else if (result.failure(climber.variant).isPresent()) {
          climber.stop(Stop.FAILED, result.failure(climber.variant).get());
        } else {
          again.add(climber);
        }
      }
      if (again.size() == trying.size()) {
        again.forEach(c -> c.stop(Stop.FAILED, "the lab measured nothing: see " + folder));
        again.clear();
      }
    }
    return again;
  }

  /** How much is measured where a call takes so long. */
  private record Effort(int warmUp, int trials, int forks) {
    /** A call that proves, and in each process the last. */
    double calls() {
      return 1 + forks * (warmUp + trials + 1.0);
    }
  }

  private Effort effort(Climber climber) {
    return climber.next.seconds() < LONG_CALL
        ? new Effort(2, 2, limits.forks())
        : new Effort(0, 1, limits.forks());
  }

  private Study study(int length, List<Climber> trying) {
    String workload = AttentionProblem.name(length);
    Map<String, Study.Engine> engines = new LinkedHashMap<>();
    for (Climber climber : trying) {
      Map<String, String> options = problem.options(climber.variant);
      if (climber.next.seconds() > SHORT_CALL && climber.next.points() > 0) {
        options.put(BenchmarkProtocol.operations(workload), "1");
      }
      engines.put(
          climber.variant, new Study.Engine(climber.variant, AttentionProblem.ENGINE, options));
    }
    Effort effort = effort(trying.getFirst());
    return BenchmarkRun.study(
            command,
            "attention extreme, %s, %s".formatted(workload, problem.title()),
            engines,
            List.of(workload))
        .baseline(trying.getFirst().variant)
        .settings(DesignOptions.withoutModel())
        .design(
            new Study.Design(
                effort.forks(),
                effort.trials(),
                effort.warmUp(),
                LONG_CALL,
                Study.Design.NO_BUDGET,
                DesignOptions.MARGIN,
                DesignOptions.SEED))
        .build();
  }
}
