package io.steelyard.app;

import io.steelyard.kernels.DataType;
import io.steelyard.lab.record.Json;
import io.steelyard.models.Batch;
import io.steelyard.models.BatchedSequence;
import io.steelyard.models.sampling.Sampling;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/**
 * The process that {@link BatchCommand} starts. It prints what the kernels are, then a line for
 * each measurement: how many sequences, nanoseconds, and a sum of the first one's tokens.
 */
final class BatchBench {
  /** The method that is timed. */
  static final ProfileGraph.Timed TIMED = new ProfileGraph.Timed(BatchBench.class, "passes");

  /** Steps of a measurement that warms up. */
  private static final int WARM_UP = 24;

  /**
   * What is measured.
   *
   * @param prompt tokens of each prompt
   * @param steps timed passes, each of which gives every sequence a token
   * @param rounds how often everything is measured, each time in another order
   * @param profile the folder for a profile of the timed passes, if one is to be made
   */
  record Plan(
      OwnEngineOptions.Setting engine,
      int prompt,
      int steps,
      int rounds,
      long seed,
      List<Integer> parallel,
      Optional<Path> profile) {
    Plan profiled(Path folder) {
      return new Plan(engine, prompt, steps, rounds, seed, parallel, Optional.of(folder));
    }

    int largest() {
      return Collections.max(parallel);
    }

    /** Positions of a sequence: the first may generate while the last prompts are processed. */
    int capacity() {
      int passes = largest() * prompt / Batch.PROMPT_TOKENS + 2;
      return prompt + passes + Math.max(steps, WARM_UP);
    }
  }

  private final Plan plan;
  private final OwnModel own;
  private final DataType kv;

  private BatchBench(Plan plan, OwnModel own) {
    this.plan = plan;
    this.own = own;
    kv = own.kvType(plan.engine().kv());
  }

  public static void main(String[] arguments) {
    Plan plan = Json.read(arguments[0], Plan.class);
    MeasuringProcess.measure(
        () -> {
          try (OwnModel own = plan.engine().load(plan.profile())) {
            System.out.println(own.kernels().description());
            new BatchBench(plan, own).run();
          }
        });
  }

  private void run() {
    List<Integer> order = new ArrayList<>(plan.parallel());
    for (int parallel : order) {
      MeasuringProcess.warmUp(() -> measure(parallel, WARM_UP));
    }
    own.beginProfile();
    Random random = new Random(plan.seed());
    for (int round = 0; round < plan.rounds(); round++) {
      Collections.shuffle(order, random);
      for (int parallel : order) {
        System.out.println(measure(parallel, plan.steps()));
      }
    }
  }

  /** Times passes in which every sequence gets a token; their prompts are processed before. */
  private String measure(int parallel, int steps) {
    own.profile(false);
    try (Batch batch =
        own.model().newBatch(new Batch.Settings(parallel, plan.capacity(), kv, false))) {
      List<BatchedSequence> sequences = new ArrayList<>();
      int most = plan.capacity() - plan.prompt() + 1;
      for (int i = 0; i < parallel; i++) {
        int[] prompt =
            new Random(plan.seed() + i)
                .ints(plan.prompt(), 0, own.model().config().vocabulary())
                .toArray();
        sequences.add(batch.submit(prompt, most, Sampling.GREEDY, id -> true));
      }
      while (sequences.getLast().generated().length == 0) {
        batch.step();
      }
      own.profile(true);
      long nanos = passes(batch, steps);
      int[] first = Arrays.copyOf(sequences.getFirst().generated(), steps + 1);
      return "%d %d %08x".formatted(parallel, nanos, Arrays.hashCode(first));
    }
  }

  private static long passes(Batch batch, int steps) {
    long start = System.nanoTime();
    for (int i = 0; i < steps; i++) {
      batch.step();
    }
    return System.nanoTime() - start;
  }
}
