package io.steelyard.lab.record;

import io.steelyard.lab.study.Cell;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * A journal read back as blocks. Of a block that was measured more than once, the first undisturbed
 * attempt counts, or else the last; processes that an interruption cut short stay in the journal
 * and count for nothing.
 */
public final class Blocks {
  /**
   * One block as it counts.
   *
   * @param number from 1
   * @param disturbed whether it counts although the machine was disturbed
   * @param spentShare of the run's budget by the end of its last attempt
   * @param forks by cell id
   */
  public record Block(
      int number, boolean disturbed, double spentShare, Map<String, ForkRecord> forks) {}

  private final List<Block> blocks = new ArrayList<>();
  private final Map<String, List<Entry.ForkEnd>> ends = new HashMap<>();
  private int repeated;

  private Blocks() {}

  /** Reads the blocks that were begun. */
  public static Blocks of(List<Entry> entries) {
    Blocks blocks = new Blocks();
    NavigableMap<Integer, NavigableMap<Integer, List<Entry>>> attempts = new TreeMap<>();
    for (Entry entry : entries) {
      if (entry instanceof Entry.ForkEnd end) {
        blocks.ends.computeIfAbsent(end.cell(), c -> new ArrayList<>()).add(end);
      }
      attempts
          .computeIfAbsent(entry.block(), b -> new TreeMap<>())
          .computeIfAbsent(entry.attempt(), a -> new ArrayList<>())
          .add(entry);
    }
    attempts.forEach(blocks::add);
    return blocks;
  }

  private void add(int number, NavigableMap<Integer, List<Entry>> attempts) {
    List<Entry> chosen = List.of();
    boolean disturbed = false;
    int measured = 0;
    for (List<Entry> attempt : attempts.values()) {
      boolean ended = attempt.stream().anyMatch(Entry.BlockEnd.class::isInstance);
      if (!ended && !chosen.isEmpty()) {
        continue; // a repetition that was cut short replaces nothing
      }
      chosen = attempt;
      measured++;
      disturbed =
          attempt.stream()
              .anyMatch(e -> e instanceof Entry.BlockEnd end && !end.disturbed().isEmpty());
      if (!disturbed) {
        break;
      }
    }
    repeated += measured > 1 ? 1 : 0;
    double spent =
        attempts.values().stream()
            .flatMap(List::stream)
            .mapToDouble(e -> e instanceof Entry.BlockEnd end ? end.spentShare() : 0)
            .max()
            .orElse(0);
    blocks.add(new Block(number, disturbed, spent, forks(chosen)));
  }

  private static Map<String, ForkRecord> forks(List<Entry> entries) {
    record Key(String cell, int fork) {}
    Map<Key, Entry.ForkStart> starts = new HashMap<>();
    Map<Key, List<Entry.Call>> calls = new HashMap<>();
    Map<String, ForkRecord> forks = new LinkedHashMap<>();
    for (Entry entry : entries) {
      switch (entry) {
        case Entry.ForkStart start -> starts.put(new Key(start.cell(), start.fork()), start);
        case Entry.Call call ->
            calls
                .computeIfAbsent(new Key(call.cell(), call.fork()), k -> new ArrayList<>())
                .add(call);
        case Entry.ForkEnd end -> {
          Key key = new Key(end.cell(), end.fork());
          // A process that died before its load has no start; it can only have failed.
          forks.put(
              end.cell(), new ForkRecord(starts.get(key), calls.getOrDefault(key, List.of()), end));
        }
        case Entry.BlockStart start -> {}
        case Entry.BlockEnd end -> {}
      }
    }
    return forks;
  }

  /** All blocks that were begun, in order. */
  public List<Block> all() {
    return List.copyOf(blocks);
  }

  /** How many blocks were disturbed and measured again; the second attempt may be disturbed too. */
  public int repeated() {
    return repeated;
  }

  /** The numbers of the blocks that count though the machine was disturbed. */
  public Set<Integer> disturbed() {
    return blocks.stream().filter(Block::disturbed).map(Block::number).collect(Collectors.toSet());
  }

  /** Share of the run's budget that was spent by the end of a block. */
  public double spentShare(int number) {
    return blocks.stream()
        .filter(block -> block.number <= number)
        .mapToDouble(Block::spentShare)
        .max()
        .orElse(0);
  }

  /** How all processes of a cell ended, also those that were tried again and count for nothing. */
  public List<Entry.ForkEnd> ends(Cell cell) {
    return List.copyOf(ends.getOrDefault(cell.id(), List.of()));
  }

  /** The sound processes of a cell, by block. */
  public NavigableMap<Integer, ForkRecord> sound(Cell cell) {
    NavigableMap<Integer, ForkRecord> forks = new TreeMap<>();
    for (Block block : blocks) {
      ForkRecord fork = block.forks.get(cell.id());
      if (fork != null && fork.sound()) {
        forks.put(block.number, fork);
      }
    }
    return forks;
  }

  /**
   * Sound processes of two cells, block by block.
   *
   * @param blocks the numbers of the blocks that have both
   * @param subject those of one cell, in the order of the blocks
   * @param baseline those of the other
   */
  public record Pairs(Set<Integer> blocks, List<ForkRecord> subject, List<ForkRecord> baseline) {}

  /** The sound processes of two cells in the blocks that have both. */
  public Pairs pairs(Cell subject, Cell baseline) {
    NavigableMap<Integer, ForkRecord> own = sound(subject);
    NavigableMap<Integer, ForkRecord> other = sound(baseline);
    own.keySet().retainAll(other.keySet());
    other.keySet().retainAll(own.keySet());
    return new Pairs(own.keySet(), List.copyOf(own.values()), List.copyOf(other.values()));
  }

  /** Why processes of a cell are not sound, oldest first, without repetition. */
  public Set<String> failures(Cell cell) {
    Set<String> failures = new LinkedHashSet<>();
    for (Block block : blocks) {
      ForkRecord fork = block.forks.get(cell.id());
      if (fork != null && !fork.sound()) {
        failures.add(
            fork.end().failure().isEmpty()
                ? "a timed output was not the one of the parity run"
                : fork.end().failure());
      }
    }
    return failures;
  }
}
