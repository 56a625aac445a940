package io.steelyard.lab.run;

import io.steelyard.lab.RunException;
import io.steelyard.lab.RunListener;
import io.steelyard.lab.record.Blocks;
import io.steelyard.lab.record.Entry;
import io.steelyard.lab.record.Journal;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.study.Workload;
import io.steelyard.lab.worker.MachineCounters;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.lab.worker.Workers;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The blocks of a run: in each, one fresh process of every cell, in a fresh random order. Goes on
 * from whatever the journal already holds, so that an interrupted run loses nothing.
 */
final class BlockLoop {
  /** A block is measured at most this often; the last attempt stands, disturbed or not. */
  private static final int ATTEMPTS = 2;

  /**
   * Once so many have been made and most were disturbed, that is what the machine is like, as long
   * as it stays so: to measure a block again would only cost the time of another.
   */
  private static final int ATTEMPTS_TO_KNOW = 2;

  /** A process that fails may have been killed from outside; a second failure is the engine's. */
  private static final int TRIES = 2;

  /**
   * Where in the run a process stands.
   *
   * @param fork counts the processes started for this cell in this attempt, from 1
   * @param trials timed calls of the process
   */
  record Place(int block, int attempt, Cell cell, int fork, int trials) {}

  /** Runs one process of each of some cells and leaves their entries in the journal. */
  @FunctionalInterface
  interface Forks {
    /**
     * Runs them.
     *
     * @param places of the same block, attempt and workload
     */
    void run(List<Place> places);
  }

  /** What the loop asks of the machine. */
  interface Machine extends AutoCloseable {
    Sentinel.Reading sentinel() throws WorkerException;

    MachineCounters counters() throws IOException;

    /** As {@link System#nanoTime}. */
    long nanos();

    @Override
    default void close() {}
  }

  private final Study study;
  private final Journal journal;
  private final List<Cell> cells;
  private final Forks forks;
  private final Machine machine;
  private final Look atFirst;
  private final Function<List<Entry>, Look> look;
  private final RunListener listener;
  private final long startedNanos;
  private final long spentBefore;
  private Look seen;

  /** The block that {@link #seen} is for. */
  private int seenBlock;

  /**
   * @param labels what is measured; a study's other labels are not
   * @param atFirst how to begin, before there are blocks to look at
   * @param look tells what the entries of some blocks allow to be said
   */
  BlockLoop(
      Study study,
      Workers workers,
      Journal journal,
      Set<String> labels,
      Forks forks,
      Look atFirst,
      Function<List<Entry>, Look> look,
      RunListener listener) {
    this(study, journal, labels, forks, machine(workers), atFirst, look, listener);
  }

  BlockLoop(
      Study study,
      Journal journal,
      Set<String> labels,
      Forks forks,
      Machine machine,
      Look atFirst,
      Function<List<Entry>, Look> look,
      RunListener listener) {
    this.study = study;
    this.journal = journal;
    this.cells = study.cells().stream().filter(cell -> labels.contains(cell.label())).toList();
    this.forks = forks;
    this.machine = machine;
    this.atFirst = atFirst;
    this.look = look;
    this.listener = listener;
    this.startedNanos = machine.nanos();
    this.spentBefore = Math.max(nanosIn(journal.entries()), nanosSaid());
  }

  private static Machine machine(Workers workers) {
    Sentinel sentinel = new Sentinel(workers);
    return new Machine() {
      @Override
      public Sentinel.Reading sentinel() throws WorkerException {
        return sentinel.read();
      }

      @Override
      public MachineCounters counters() throws IOException {
        return MachineCounters.read(ProcessHandle.current().pid());
      }

      @Override
      public long nanos() {
        return System.nanoTime();
      }

      @Override
      public void close() {
        sentinel.close();
      }
    };
  }

  /** Measures until the design is fulfilled, all is settled, or the budget is spent. */
  public void run() throws WorkerException {
    try (machine) {
      measure();
    }
  }

  private void measure() throws WorkerException {
    for (int block = 1; block <= study.design().forks(); block++) {
      if (block > Study.Design.LEAST_FORKS && budgetSpent() && !begun(block)) {
        listener.note(
            "the budget of %.0f s is spent after %s blocks"
                .formatted(study.design().budgetSeconds(), ofAll(block - 1)));
        return;
      }
      if (seen(block).settled().containsAll(study.workloads())) {
        listener.note("everything is settled after %d blocks".formatted(block - 1));
        return;
      }
      attempt(block);
      if (block == Sentinel.LEAST) {
        judgeEarlier(block);
      }
    }
  }

  /**
   * Measures a block, and again where it was disturbed. What the journal holds is not repeated: an
   * attempt that has ended stands as it is, failed cells included, since a process started later
   * would not have met the same machine.
   */
  private void attempt(int block) throws WorkerException {
    for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
      Optional<Entry.BlockEnd> end = end(block, attempt);
      String disturbed = end.isPresent() ? end.get().disturbed() : measure(block, attempt);
      if (disturbed.isEmpty()) {
        return;
      }
      boolean again = attempt < ATTEMPTS && !alwaysDisturbed() && allows(block, attempt + 1);
      if (end.isEmpty()) {
        noteDisturbed(block, again, disturbed);
      }
      if (!again) {
        return;
      }
    }
  }

  /**
   * Whether a block may be measured again: always, but in a quick study, whose processes are shared
   * and whose budget has to do, unless it was begun before an interruption.
   */
  private boolean allows(int block, int attempt) {
    return !study.sharesProcesses() || !budgetSpent() || !starts(block, attempt).isEmpty();
  }

  /** Whether most attempts are disturbed on this machine, as far as one can tell. */
  private boolean alwaysDisturbed() {
    Map<List<Integer>, Boolean> attempts = new HashMap<>();
    for (Entry entry : journal.entries()) {
      if (entry instanceof Entry.BlockEnd end) {
        attempts.put(List.of(end.block(), end.attempt()), !end.disturbed().isEmpty());
      }
    }
    long disturbed = attempts.values().stream().filter(each -> each).count();
    return attempts.size() >= ATTEMPTS_TO_KNOW && 2 * disturbed > attempts.size();
  }

  /** The first blocks had no median to be judged by; now there is one. */
  private void judgeEarlier(int block) throws WorkerException {
    for (int earlier = 1; earlier < block; earlier++) {
      Entry.BlockEnd end = end(earlier, 1).orElseThrow();
      String disturbed = judge(earlier, 1, end.stolenShare());
      if (end.disturbed().isEmpty() && !disturbed.isEmpty()) {
        journal.add(
            new Entry.BlockEnd(
                earlier,
                1,
                Instant.now().toString(),
                end.stolenShare(),
                disturbed,
                end.spentShare()));
        boolean again = allows(earlier, 2);
        noteDisturbed(earlier, again, disturbed);
        if (again) {
          attempt(earlier);
        }
      }
    }
  }

  private void noteDisturbed(int block, boolean again, String why) {
    listener.note(
        "block "
            + block
            + " was disturbed ("
            + why
            + ")"
            + (again ? "; it is measured again" : "; it stands all the same"));
  }

  /**
   * Measures what is left of an attempt. The cells of a block are paired because they met the same
   * machine; so where an interruption parts them, the sentinel is read again, and the attempt is
   * disturbed if either reading is off, or if time was stolen from the calls before or since.
   */
  private String measure(int block, int attempt) throws WorkerException {
    listener.progress("measuring", share(block, attempt, 0), "block " + block + ": sentinel");
    Sentinel.Reading reading = machine.sentinel();
    journal.add(
        new Entry.BlockStart(
            block,
            attempt,
            Instant.now().toString(),
            order(block).stream().map(Cell::id).toList(),
            reading.computeNanos(),
            reading.bandwidthNanos()));
    MachineCounters before = counters();
    runCells(block, attempt);
    double stolen = counters().since(before).stealShare();
    if (starts(block, attempt).size() > 1) {
      stolen = Math.max(stolen, stolenFromCalls(block, attempt));
    }
    String disturbed = judge(block, attempt, stolen);
    journal.add(
        new Entry.BlockEnd(
            block, attempt, Instant.now().toString(), stolen, disturbed, spentShare()));
    return disturbed;
  }

  /** Why an attempt is disturbed, by any of its sentinel's readings; empty where it is not. */
  private String judge(int block, int attempt, double stolen) {
    return starts(block, attempt).stream()
        .map(start -> Sentinel.judge(start, starts(), stolen))
        .filter(disturbed -> !disturbed.isEmpty())
        .findFirst()
        .orElse("");
  }

  /** Share of processor time that the hypervisor took during an attempt's calls. */
  private double stolenFromCalls(int block, int attempt) {
    double stolen = 0;
    double all = 0;
    for (Entry entry : journal.entries()) {
      if (entry instanceof Entry.Call call && call.block() == block && call.attempt() == attempt) {
        stolen += call.stolenShare() * call.outsideNanos();
        all += call.outsideNanos();
      }
    }
    return all == 0 ? 0 : stolen / all;
  }

  /**
   * What the blocks before this one tell, or nothing yet where they are few. It follows from the
   * journal alone, so that a run that is resumed goes on as it would have.
   */
  private Look seen(int block) {
    if (block <= Study.Design.LEAST_FORKS) {
      return atFirst;
    }
    if (seenBlock != block) {
      seen = look.apply(journal.entries().stream().filter(e -> e.block() < block).toList());
      seenBlock = block;
    }
    return seen;
  }

  /**
   * The cells that still matter, in a random order that every second block has the other way round:
   * whoever begins meets a machine that another has not warmed, so all begin equally often. All
   * attempts at a block have its order, and so does a run that is resumed.
   */
  private List<Cell> order(int block) {
    List<Cell> order = new ArrayList<>(cells);
    int pair = (block + 1) / 2;
    // Neighbouring seeds of java.util.Random begin alike: two cells would hardly ever change
    // places.
    Collections.shuffle(order, new SplittableRandom(study.design().seed() * 31 + pair * 7L));
    // Cells of a workload take turns, so they stand together.
    group(order, order.stream().map(Cell::workload).distinct().toList());
    if (block % 2 == 0) {
      Collections.reverse(order);
    }
    if (study.sharesProcesses()) {
      // The plan's first workload warms a process up for the others.
      group(order, study.workloads());
    }
    order.removeIf(cell -> seen(block).settled().contains(cell.workload()));
    return order;
  }

  private static void group(List<Cell> cells, List<Workload> workloads) {
    cells.sort(Comparator.comparingInt(cell -> workloads.indexOf(cell.workload())));
  }

  /**
   * Runs the cells that are not finished; a process that fails gets one more chance. A cell that
   * failed in an earlier block all the same is left out: its failure stands in the record, and a
   * hanging engine may cost minutes each time.
   */
  private void runCells(int block, int attempt) {
    List<Cell> order = order(block);
    for (Workload workload : order.stream().map(Cell::workload).distinct().toList()) {
      List<Cell> cells =
          order.stream()
              .filter(cell -> cell.workload().equals(workload) && !givenUp(block, cell))
              .toList();
      Look seen = seen(block);
      int trials = seen.trials().getOrDefault(workload, study.design().trials());
      List<Cell> left = unfinished(block, attempt, cells);
      for (int tries = 0; tries < TRIES && !left.isEmpty(); tries++) {
        listener.progress(
            "measuring",
            share(block, attempt, (double) order.indexOf(cells.getFirst()) / order.size()),
            "block %s: %s%s".formatted(ofAll(block), ids(left), standing(seen, workload)));
        forks.run(
            left.stream()
                .map(
                    cell ->
                        new Place(block, attempt, cell, 1 + startsOf(block, attempt, cell), trials))
                .toList());
        left = unfinished(block, attempt, cells);
      }
      for (Cell cell : left) {
        listener.note(
            cell.id() + " failed in block " + block + " and is left out of those that follow");
      }
    }
  }

  private List<Cell> unfinished(int block, int attempt, List<Cell> among) {
    return among.stream().filter(cell -> !finished(block, attempt, cell)).toList();
  }

  private static String ids(List<Cell> cells) {
    return cells.stream().map(Cell::id).collect(Collectors.joining(", "));
  }

  /** How many there will be is known where the design is fixed. */
  private String ofAll(int block) {
    return study.design().adaptive().isPresent()
        ? String.valueOf(block)
        : block + " of " + study.design().forks();
  }

  private static String standing(Look seen, Workload workload) {
    List<String> ratios = seen.standing().getOrDefault(workload, List.of());
    return ratios.isEmpty() ? "" : ", so far " + String.join(", ", ratios);
  }

  /** Whether an earlier block ended without one process of this cell that got through. */
  private boolean givenUp(int block, Cell cell) {
    Set<Integer> failed = new HashSet<>();
    Set<Integer> done = new HashSet<>();
    for (Entry entry : journal.entries()) {
      if (entry instanceof Entry.ForkEnd end
          && end.block() < block
          && end.cell().equals(cell.id())) {
        (end.failure().isEmpty() ? done : failed).add(end.block());
      }
    }
    return !done.containsAll(failed);
  }

  private MachineCounters counters() {
    try {
      return machine.counters();
    } catch (IOException e) {
      throw new RunException("the machine's counters can't be read: " + e.getMessage(), e);
    }
  }

  /** Progress by what is nearer: the last block, or the end of the budget. */
  private double share(int block, int attempt, double within) {
    Set<List<Integer>> others = new HashSet<>();
    int last = block;
    for (Entry.BlockStart start : starts()) {
      others.add(List.of(start.block(), start.attempt()));
      last = Math.max(last, start.block());
    }
    others.remove(List.of(block, attempt));
    double done = others.size() + within;
    double byBlocks = done / (others.size() + 1 + study.design().forks() - last);
    double byBudget = spentSeconds() / study.design().budgetSeconds();
    // The least blocks are measured whatever the budget.
    double most = Math.min(1, done / Study.Design.LEAST_FORKS);
    return Math.min(1, Math.max(byBlocks, Math.min(byBudget, most)));
  }

  private boolean budgetSpent() {
    double blocks = starts().stream().map(s -> List.of(s.block(), s.attempt())).distinct().count();
    double each = blocks == 0 ? 0 : spentSeconds() / blocks;
    // A block that would end well past the budget is not begun.
    return spentSeconds() + each / 2 > study.design().budgetSeconds();
  }

  private double spentShare() {
    return budgetSpent() ? 1 : spentSeconds() / study.design().budgetSeconds();
  }

  /** Time spent on the blocks so far: all of this process's, and what earlier ones recorded. */
  private double spentSeconds() {
    return (spentBefore + machine.nanos() - startedNanos) / 1e9;
  }

  private static long nanosIn(List<Entry> entries) {
    long nanos = 0;
    for (Entry entry : entries) {
      nanos +=
          switch (entry) {
            case Entry.BlockStart start -> start.computeNanos() + start.bandwidthNanos();
            case Entry.ForkStart start -> start.runtimeNanos() + start.loadOutsideNanos();
            case Entry.Call call -> call.outsideNanos();
            case Entry.ForkEnd end -> 0;
            case Entry.BlockEnd end -> 0;
          };
    }
    return nanos;
  }

  /** What the blocks that have ended say of the time spent. */
  private long nanosSaid() {
    double share =
        Blocks.of(journal.entries()).all().stream()
            .mapToDouble(Blocks.Block::spentShare)
            .max()
            .orElse(0);
    return (long) (1e9 * share * study.design().budgetSeconds());
  }

  private boolean begun(int block) {
    return starts().stream().anyMatch(s -> s.block() == block);
  }

  private List<Entry.BlockStart> starts() {
    return journal.entries().stream()
        .filter(Entry.BlockStart.class::isInstance)
        .map(Entry.BlockStart.class::cast)
        .collect(Collectors.toList());
  }

  /** The beginning of an attempt, and each time that it went on after an interruption. */
  private List<Entry.BlockStart> starts(int block, int attempt) {
    return starts().stream().filter(s -> s.block() == block && s.attempt() == attempt).toList();
  }

  /** How an attempt ended, as judged last. */
  private Optional<Entry.BlockEnd> end(int block, int attempt) {
    return journal.entries().stream()
        .filter(Entry.BlockEnd.class::isInstance)
        .map(Entry.BlockEnd.class::cast)
        .filter(e -> e.block() == block && e.attempt() == attempt)
        .reduce((first, later) -> later);
  }

  private boolean finished(int block, int attempt, Cell cell) {
    return journal.entries().stream()
        .anyMatch(
            e ->
                e instanceof Entry.ForkEnd end
                    && end.block() == block
                    && end.attempt() == attempt
                    && end.cell().equals(cell.id())
                    && end.failure().isEmpty());
  }

  private int startsOf(int block, int attempt, Cell cell) {
    return (int)
        journal.entries().stream()
            .filter(
                e ->
                    e instanceof Entry.ForkStart start
                        && start.block() == block
                        && start.attempt() == attempt
                        && start.cell().equals(cell.id()))
            .count();
  }
}
