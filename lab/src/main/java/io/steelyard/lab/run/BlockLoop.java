package io.steelyard.lab.run;

import io.steelyard.lab.parity.EngineParity;
import io.steelyard.lab.study.Cell;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.text.Prompts;
import io.steelyard.lab.worker.MachineCounters;
import io.steelyard.lab.worker.WorkerException;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Collectors;

/**
 * The blocks of a run: in each, one fresh process of every cell, in a fresh random order. Goes on
 * from whatever the journal already holds, so that an interrupted run loses nothing.
 */
public final class BlockLoop {
  /** A block is measured at most this often; the last attempt stands, disturbed or not. */
  private static final int ATTEMPTS = 2;

  private final Study study;
  private final Workers workers;
  private final Journal journal;
  private final Map<String, EngineParity> parity;
  private final List<Cell> cells;
  private final ForkRunner forks;
  private final RunListener listener;

  /**
   * @param parity by label, of those that passed; the others are not measured
   */
  public BlockLoop(
      Study study,
      Workers workers,
      Prompts prompts,
      Journal journal,
      Map<String, EngineParity> parity,
      RunListener listener) {
    this.study = study;
    this.workers = workers;
    this.journal = journal;
    this.parity = parity;
    this.cells = study.cells().stream().filter(cell -> parity.containsKey(cell.label())).toList();
    this.forks = new ForkRunner(study, workers, prompts, journal);
    this.listener = listener;
  }

  /** Measures until the design is fulfilled or the budget is spent. */
  public void run() throws WorkerException {
    for (int block = 1; block <= study.design().forks(); block++) {
      if (block > Study.Design.LEAST_FORKS && budgetSpent() && !begun(block)) {
        listener.note(
            "the budget of %.0f s is spent after %d of %d blocks"
                .formatted(study.design().budgetSeconds(), block - 1, study.design().forks()));
        return;
      }
      for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
        Optional<Entry.BlockEnd> end = end(block, attempt);
        String disturbed = end.isPresent() ? end.get().disturbed() : measure(block, attempt);
        if (disturbed.isEmpty()) {
          break;
        }
        if (end.isEmpty()) {
          listener.note(
              "block "
                  + block
                  + " was disturbed ("
                  + disturbed
                  + ")"
                  + (attempt < ATTEMPTS ? "; it is measured again" : "; it stands all the same"));
        }
      }
    }
  }

  private String measure(int block, int attempt) throws WorkerException {
    List<Cell> order = new ArrayList<>(cells);
    Collections.shuffle(order, new Random(study.design().seed() * 31 + block * 7L + attempt));
    if (starts().stream().noneMatch(s -> s.block() == block && s.attempt() == attempt)) {
      listener.progress("measuring", share(block, 0), "block " + block + ": sentinel");
      Sentinel.Reading reading = Sentinel.read(workers);
      journal.add(
          new Entry.BlockStart(
              block,
              attempt,
              Instant.now().toString(),
              order.stream().map(Cell::id).toList(),
              reading.computeNanos(),
              reading.bandwidthNanos()));
    }
    MachineCounters before = machine();
    for (int i = 0; i < order.size(); i++) {
      Cell cell = order.get(i);
      if (finished(block, attempt, cell)) {
        continue;
      }
      listener.progress(
          "measuring",
          share(block, (double) i / order.size()),
          "block " + block + " of " + study.design().forks() + ": " + cell.id());
      forks.run(
          new ForkRunner.Place(block, attempt, cell, 1 + startsOf(block, attempt, cell)),
          parity.get(cell.label()));
    }
    double stolen = machine().since(before).stealShare();
    Entry.BlockStart start =
        starts().stream()
            .filter(s -> s.block() == block && s.attempt() == attempt)
            .findFirst()
            .orElseThrow();
    String disturbed = Sentinel.judge(start, starts(), stolen);
    journal.add(new Entry.BlockEnd(block, attempt, Instant.now().toString(), stolen, disturbed));
    return disturbed;
  }

  private static MachineCounters machine() {
    try {
      return MachineCounters.read(ProcessHandle.current().pid());
    } catch (IOException e) {
      throw new RunException("the machine's counters can't be read: " + e.getMessage(), e);
    }
  }

  /** Progress by what is nearer: the last block, or the end of the budget. */
  private double share(int block, double within) {
    double byBlocks = (block - 1 + within) / study.design().forks();
    double byBudget = spentSeconds() / study.design().budgetSeconds();
    return Math.min(1, Math.max(byBlocks, block > Study.Design.LEAST_FORKS ? byBudget : 0));
  }

  private boolean budgetSpent() {
    double blocks = journal.entries().stream().filter(Entry.BlockEnd.class::isInstance).count();
    double each = blocks == 0 ? 0 : spentSeconds() / blocks;
    // A block that would end well past the budget is not begun.
    return spentSeconds() + each / 2 > study.design().budgetSeconds();
  }

  /** Time spent in workers so far, over all processes that have been at this run. */
  private double spentSeconds() {
    long nanos = 0;
    for (Entry entry : journal.entries()) {
      nanos +=
          switch (entry) {
            case Entry.BlockStart start -> start.computeNanos() + start.bandwidthNanos();
            case Entry.ForkStart start -> start.runtimeNanos() + start.loadOutsideNanos();
            case Entry.Call call -> call.outsideNanos();
            case Entry.ForkEnd end -> 0;
            case Entry.BlockEnd end -> 0;
          };
    }
    return nanos / 1e9;
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

  private Optional<Entry.BlockEnd> end(int block, int attempt) {
    return journal.entries().stream()
        .filter(Entry.BlockEnd.class::isInstance)
        .map(Entry.BlockEnd.class::cast)
        .filter(e -> e.block() == block && e.attempt() == attempt)
        .findFirst();
  }

  private boolean finished(int block, int attempt, Cell cell) {
    return journal.entries().stream()
        .anyMatch(
            e ->
                e instanceof Entry.ForkEnd end
                    && end.block() == block
                    && end.attempt() == attempt
                    && end.cell().equals(cell.id()));
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
