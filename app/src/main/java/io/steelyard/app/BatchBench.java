package io.steelyard.app;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.Tier;
import io.steelyard.models.Batch;
import io.steelyard.models.BatchedSequence;
import io.steelyard.models.Model;
import io.steelyard.models.sampling.Sampling;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * The process that {@link BatchCommand} starts. It prints what the kernels are, then a line for
 * each measurement: how many sequences, nanoseconds, and a sum of the first one's tokens.
 */
final class BatchBench {
  /** Steps of a batch before it is measured for the first time. */
  private static final int WARM_UP = 24;

  /**
   * What is measured.
   *
   * @param prompt tokens of each prompt
   * @param steps timed passes, each of which gives every sequence a token
   * @param rounds how often everything is measured, each time in another order
   */
  record Plan(
      Path model,
      Tier tier,
      int threads,
      boolean deterministic,
      DataType kv,
      int prompt,
      int steps,
      int rounds,
      long seed,
      List<Integer> parallel) {
    static Plan parse(String[] texts) {
      return new Plan(
          Path.of(texts[0]),
          Tier.valueOf(texts[1]),
          Integer.parseInt(texts[2]),
          Boolean.parseBoolean(texts[3]),
          DataType.valueOf(texts[4]),
          Integer.parseInt(texts[5]),
          Integer.parseInt(texts[6]),
          Integer.parseInt(texts[7]),
          Long.parseLong(texts[8]),
          Arrays.stream(texts).skip(9).map(Integer::valueOf).toList());
    }

    List<String> arguments() {
      List<String> texts = new ArrayList<>();
      for (Object each :
          List.of(model, tier, threads, deterministic, kv, prompt, steps, rounds, seed)) {
        texts.add(each.toString());
      }
      parallel.forEach(count -> texts.add(count.toString()));
      return texts;
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
  private final Model model;

  private BatchBench(Plan plan, Model model) {
    this.plan = plan;
    this.model = model;
  }

  public static void main(String[] arguments) {
    Plan plan = Plan.parse(arguments);
    try (Kernels kernels = Kernels.of(plan.tier(), plan.threads(), plan.deterministic());
        Model model = Model.load(plan.model(), kernels)) {
      System.out.println(kernels.description());
      new BatchBench(plan, model).run();
    }
  }

  private void run() {
    List<Integer> order = new ArrayList<>(plan.parallel());
    for (int parallel : order) {
      measure(parallel, WARM_UP);
    }
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
    try (Batch batch =
        model.newBatch(new Batch.Settings(parallel, plan.capacity(), plan.kv(), false))) {
      List<BatchedSequence> sequences = new ArrayList<>();
      int most = plan.capacity() - plan.prompt() + 1;
      for (int i = 0; i < parallel; i++) {
        int[] prompt =
            new Random(plan.seed() + i)
                .ints(plan.prompt(), 0, model.config().vocabulary())
                .toArray();
        sequences.add(batch.submit(prompt, most, Sampling.GREEDY, id -> true));
      }
      while (sequences.getLast().generated().length == 0) {
        batch.step();
      }
      long start = System.nanoTime();
      for (int i = 0; i < steps; i++) {
        batch.step();
      }
      long nanos = System.nanoTime() - start;
      int[] first = Arrays.copyOf(sequences.getFirst().generated(), steps + 1);
      return "%d %d %08x".formatted(parallel, nanos, Arrays.hashCode(first));
    }
  }
}
