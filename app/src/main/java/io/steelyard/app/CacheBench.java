package io.steelyard.app;

import io.steelyard.lab.record.Json;
import io.steelyard.models.Session;
import io.steelyard.models.sampling.Sampler;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.StringJoiner;

/**
 * The process that {@link CacheCommand} starts. It prints what the kernels are, then a line for
 * each measurement: {@code none} or {@code full} with the nanoseconds until each length was reached
 * and a sum of the tokens; {@code prefill} or {@code decode} with a length and the nanoseconds of
 * one pass.
 */
final class CacheBench {
  /** Steps that a decode rate is taken of. */
  private static final int DECODE_STEPS = 8;

  /** Prompt lengths between the shortest and the longest whose passes are timed. */
  private static final int GRID = 5;

  private static final int WARM_UP = 12;

  /**
   * What is measured.
   *
   * @param prompt tokens of the prompt
   * @param lengths generated tokens after which the time is taken, ascending
   */
  record Plan(
      OwnEngineOptions.Setting engine, int prompt, int rounds, long seed, List<Integer> lengths) {
    /** The lengths of sequences whose passes are timed, for the prediction. */
    List<Integer> grid() {
      int longest = lengths.getLast() - 1;
      List<Integer> grid = new ArrayList<>();
      for (int i = 0; i < GRID; i++) {
        int at = prompt + longest * i / (GRID - 1);
        if (grid.isEmpty() || grid.getLast() < at) {
          grid.add(at);
        }
      }
      return grid;
    }

    int capacity() {
      return prompt + Math.max(lengths.getLast(), WARM_UP) + DECODE_STEPS;
    }

    /** Lines that follow the first. */
    int measurements() {
      return rounds * (2 + 2 * grid().size());
    }
  }

  private final Plan plan;
  private final Session session;
  private final int[] ids;

  private CacheBench(Plan plan, Session session) {
    this.plan = plan;
    this.session = session;
    ids = new Random(plan.seed()).ints(plan.capacity(), 0, session.vocabulary()).toArray();
  }

  public static void main(String[] arguments) {
    Plan plan = Json.read(arguments[0], Plan.class);
    MeasuringProcess.measure(
        () -> {
          try (OwnModel own = plan.engine().load(Optional.empty());
              Session session =
                  own.model().newSession(plan.capacity(), own.kvType(plan.engine().kv()))) {
            System.out.println(own.kernels().description());
            new CacheBench(plan, session).run();
          }
        });
  }

  private void run() {
    MeasuringProcess.warmUp(() -> generate(true, List.of(WARM_UP)));
    MeasuringProcess.warmUp(() -> generate(false, List.of(WARM_UP)));
    List<Runnable> all = new ArrayList<>();
    for (boolean cached : new boolean[] {true, false}) {
      all.add(() -> System.out.println(generate(cached, plan.lengths())));
    }
    for (int length : plan.grid()) {
      all.add(() -> System.out.printf("prefill %d %d%n", length, prefill(length)));
      all.add(() -> System.out.printf("decode %d %d%n", length, decode(length)));
    }
    Random random = new Random(plan.seed());
    for (int round = 0; round < plan.rounds(); round++) {
      Collections.shuffle(all, random);
      all.forEach(Runnable::run);
    }
  }

  /** Greedy generation; without the cache every token's pass begins at the sequence's start. */
  private String generate(boolean cached, List<Integer> lengths) {
    int[] sequence = Arrays.copyOf(ids, ids.length);
    StringJoiner line = new StringJoiner(" ").add(cached ? "full" : "none");
    session.truncate(0);
    int length = plan.prompt();
    int done = 0;
    long start = System.nanoTime();
    for (int wanted : lengths) {
      for (; done < wanted; done++, length++) {
        int from = cached ? session.length() : 0;
        session.truncate(from);
        sequence[length] = Sampler.argmax(session.forward(sequence, from, length));
      }
      line.add(Long.toString(System.nanoTime() - start));
    }
    return line.add(
            "%08x".formatted(Arrays.hashCode(Arrays.copyOfRange(sequence, plan.prompt(), length))))
        .toString();
  }

  private long prefill(int length) {
    session.truncate(0);
    long start = System.nanoTime();
    var _ = Sampler.argmax(session.forward(ids, 0, length));
    return System.nanoTime() - start;
  }

  /** The time of one of the steps that follow so many cached tokens. */
  private long decode(int length) {
    session.truncate(0);
    session.advance(ids, 0, length);
    long start = System.nanoTime();
    for (int i = 0; i < DECODE_STEPS; i++) {
      MemorySegment logits = session.step(ids[length + i]);
      var _ = Sampler.argmax(logits);
    }
    return (System.nanoTime() - start) / DECODE_STEPS;
  }
}
