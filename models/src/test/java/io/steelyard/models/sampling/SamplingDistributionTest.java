package io.steelyard.models.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What is drawn, against distributions computed by hand and by the definitions, step by step. */
class SamplingDistributionTest {
  private static final int DRAWS = 20_000;

  /** Times each token is drawn after a prompt. */
  private static int[] counts(Sampling sampling, int[] prompt, float[] logits, int draws) {
    Sampler sampler = new Sampler(sampling);
    int[] counts = new int[logits.length];
    for (int i = 0; i < draws; i++) {
      sampler.begin(prompt);
      counts[sampler.next(MemorySegment.ofArray(logits))]++;
    }
    return counts;
  }

  /**
   * A count is binomial. By Bernstein's inequality it is further than 5 σ + 9 from its mean with
   * probability 2·exp(−12.5), 7 in a million, at most, however small p is.
   */
  private static void assertDrawn(int[] counts, int draws, double[] probabilities, String what) {
    for (int id = 0; id < counts.length; id++) {
      double p = probabilities[id];
      if (p == 0) {
        assertThat(counts[id]).as("%s: id %d", what, id).isZero();
      } else {
        assertThat((double) counts[id])
            .as("%s: id %d of probability %s", what, id, p)
            .isCloseTo(draws * p, within(5 * Math.sqrt(draws * p * (1 - p)) + 9));
      }
    }
  }

  private static float[] logs(double... probabilities) {
    float[] logits = new float[probabilities.length];
    for (int i = 0; i < logits.length; i++) {
      logits[i] = (float) Math.log(probabilities[i]);
    }
    return logits;
  }

  private static Sampling typical(float share) {
    return new Sampling(1, 0, share, 1, 0, Penalties.NONE, 11);
  }

  /**
   * Surprises of 1, 2, 3 and 3 bits and an entropy of 1.75 bits: distances of 0.75, 0.25, 1.25 and
   * 1.25.
   */
  @Test
  void typicalKeepsTheTokensThatAreAsSurprisingAsExpected() {
    float[] logits = logs(0.5, 0.25, 0.125, 0.125);

    assertDrawn(
        counts(typical(0.2f), new int[0], logits, DRAWS),
        DRAWS,
        new double[] {0, 1, 0, 0},
        "the most likely token is the less typical one");
    assertDrawn(
        counts(typical(0.3f), new int[0], logits, DRAWS),
        DRAWS,
        new double[] {2 / 3.0, 1 / 3.0, 0, 0},
        "the next closest one crosses");
    assertDrawn(
        counts(typical(0.8f), new int[0], logits, DRAWS),
        DRAWS,
        new double[] {4 / 7.0, 2 / 7.0, 1 / 7.0, 0},
        "of equals the lower id");
    assertDrawn(
        counts(typical(1), new int[0], logits, DRAWS),
        DRAWS,
        new double[] {0.5, 0.25, 0.125, 0.125},
        "all");
  }

  /**
   * An entropy of 1.64 nats; surprises of 0.92 and, five times, 2.12, which are the closer ones.
   */
  @Test
  void minPIsAShareOfTheLargestProbabilityThatTypicalLeft() {
    Sampling sampling = new Sampling(1, 0, 0.35f, 1, 0.6f, Penalties.NONE, 12);

    assertDrawn(
        counts(sampling, new int[0], logs(0.4, 0.12, 0.12, 0.12, 0.12, 0.12), DRAWS),
        DRAWS,
        new double[] {0, 1 / 3.0, 1 / 3.0, 1 / 3.0, 0, 0},
        "0.12 is less than 0.6 of what typical dropped");
  }

  @Test
  void aDrawFollowsThePenalisedLogits() {
    // Id 0 is twice among the last three: ln 0.5 · 2 − 2 · ln 2 − ln 2 is ln 1/32. Against 1/2: 1
    // to 16.
    float ln2 = (float) Math.log(2);
    Sampling sampling = new Sampling(1, 0, 1, 1, 0, new Penalties(2, 3, ln2, ln2), 13);

    assertDrawn(
        counts(sampling, new int[] {0, 0, 2, 0}, logs(0.5, 0.5, 0), DRAWS),
        DRAWS,
        new double[] {1 / 17.0, 16 / 17.0, 0},
        "penalised");
  }

  @Test
  void anyMixOfSettingsDrawsWhatTheDefinitionsSay() {
    long seed = 20260417;
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < 150; round++) {
      float[] logits = new float[2 + random.nextInt(14)];
      for (int i = 0; i < logits.length; i++) {
        logits[i] = (float) random.nextGaussian(0, 2);
      }
      int[] prompt = random.ints(random.nextInt(20), 0, logits.length).toArray();
      Sampling sampling = anySampling(random, logits.length);
      int draws = 3_000;

      assertDrawn(
          counts(sampling, prompt, logits, draws),
          draws,
          distribution(sampling, prompt, logits),
          "seed %d, round %d, %s".formatted(seed, round, sampling));
    }
  }

  private static Sampling anySampling(SplittableRandom random, int vocabulary) {
    return new Sampling(
        (float) random.nextDouble(0.3, 2),
        random.nextInt(vocabulary + 1),
        random.nextBoolean() ? 1 : (float) random.nextDouble(0.05, 1),
        random.nextBoolean() ? 1 : (float) random.nextDouble(0.05, 1),
        random.nextBoolean() ? 0 : (float) random.nextDouble(0.5),
        new Penalties(
            (float) random.nextDouble(0.8, 2),
            random.nextInt(-1, 20),
            (float) random.nextGaussian(),
            (float) random.nextGaussian()),
        random.nextLong());
  }

  /** The definitions, one after the other, each with lists of its own. */
  private static double[] distribution(Sampling sampling, int[] prompt, float[] logits) {
    Penalties penalties = sampling.penalties();
    int last = penalties.last() == Penalties.ALL ? prompt.length : penalties.last();
    Map<Integer, Integer> seen = new HashMap<>();
    for (int i = Math.max(0, prompt.length - last); i < prompt.length; i++) {
      seen.merge(prompt[i], 1, Integer::sum);
    }
    double[] p = new double[logits.length];
    List<Integer> kept = new ArrayList<>();
    for (int id = 0; id < p.length; id++) {
      double x = logits[id];
      if (seen.containsKey(id)) {
        x = x > 0 ? x / penalties.repeat() : x * penalties.repeat();
        x -= seen.get(id) * penalties.frequency() + penalties.presence();
      }
      p[id] = Math.exp(x / sampling.temperature());
      kept.add(id);
    }
    kept.sort(Comparator.comparingDouble(id -> -p[id]));
    if (sampling.topK() > 0) {
      kept = kept.subList(0, Math.min(kept.size(), sampling.topK()));
    }
    if (sampling.typical() < 1) {
      double total = sum(p, kept);
      double entropy =
          kept.stream().mapToDouble(id -> -p[id] / total * Math.log(p[id] / total)).sum();
      List<Integer> closest = new ArrayList<>(kept);
      closest.sort(Comparator.comparingDouble(id -> Math.abs(-Math.log(p[id] / total) - entropy)));
      kept = upTo(sampling.typical(), p, closest);
      kept.sort(Comparator.comparingDouble(id -> -p[id]));
    }
    if (sampling.topP() < 1) {
      kept = upTo(sampling.topP(), p, kept);
    }
    double least = sampling.minP() * p[kept.getFirst()];
    kept.removeIf(id -> p[id] < least);
    double total = sum(p, kept);
    double[] result = new double[p.length];
    kept.forEach(id -> result[id] = p[id] / total);
    return result;
  }

  private static List<Integer> upTo(double share, double[] p, List<Integer> ids) {
    double enough = share * sum(p, ids);
    double sum = 0;
    List<Integer> kept = new ArrayList<>();
    for (int id : ids) {
      if (sum < enough) {
        kept.add(id);
        sum += p[id];
      }
    }
    return kept;
  }

  private static double sum(double[] p, List<Integer> ids) {
    return ids.stream().mapToDouble(id -> p[id]).sum();
  }

  @Test
  void logitsThatAreNoNumbersAreNoReasonToFail() {
    Sampling sampling = new Sampling(0.7f, 3, 0.9f, 0.9f, 0.1f, new Penalties(2, 8, 1, 1), 14);
    float inf = Float.POSITIVE_INFINITY;
    for (float[] logits :
        new float[][] {{-inf, -inf}, {Float.NaN, Float.NaN}, {1, inf, 2}, {-inf, 0, Float.NaN}}) {
      Sampler sampler = new Sampler(sampling);
      for (int i = 0; i < 5; i++) {
        assertThat(sampler.next(MemorySegment.ofArray(logits))).isBetween(0, logits.length - 1);
      }
    }
  }

  @Test
  void aChoiceAllocatesNothing() {
    float[] values = new float[1_000];
    SplittableRandom random = new SplittableRandom(15);
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) random.nextGaussian();
    }
    MemorySegment logits = MemorySegment.ofArray(values);
    Sampler sampler =
        new Sampler(new Sampling(1, 400, 0.9f, 0.95f, 0.01f, new Penalties(1.1f, 64, 1, 1), 16));
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long bytes = 0;
    for (int round = 0; round < 3; round++) { // the first ones load classes and are interpreted
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < 2_000; i++) {
        sampler.next(logits);
      }
      bytes = threads.getCurrentThreadAllocatedBytes() - before;
    }
    assertThat(bytes).as("bytes of 2,000 choices").isLessThan(2_000);
  }
}
