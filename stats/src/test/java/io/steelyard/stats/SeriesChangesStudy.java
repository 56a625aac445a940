package io.steelyard.stats;

import io.steelyard.stats.SeriesChanges.Change;
import io.steelyard.stats.SeriesChanges.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.random.RandomGenerator;

/**
 * How well {@link SeriesChanges} finds what simulated histories are known to hold: the table of
 * {@code docs/statistics.md}.
 */
final class SeriesChangesStudy {

  static final int LENGTH = 100;
  static final double NOISE = 0.01;

  /** How far off a step may be found. */
  static final int NEAR = 2;

  /** Fewest runs between two steps and from a step to an end of one of the 200 series. */
  private static final int APART = 12;

  /** The first of the histories that parameters were chosen with. */
  static final int TUNING = 500_000;

  // What keeps the kinds' random numbers apart.
  private static final long STEPS = 1_000_000_000;
  private static final long DRIFT = 2_000_000_000L;
  private static final long SPIKES = 3_000_000_000L;
  private static final long FLAT = 4_000_000_000L;

  private SeriesChangesStudy() {}

  /**
   * The random numbers of a history. The parameters of {@link SeriesChanges} were chosen with k
   * from {@value #TUNING} on; what is printed and tested is below.
   */
  private static RandomGenerator random(long kind, double size, int k) {
    return Seeds.generator(kind + Math.round(10 * size) * 1_000_000 + k);
  }

  /** A history: its values, and where its steps are. */
  record History(double[] values, List<Integer> steps) {}

  /** What was found in all histories of a kind. */
  static final class Score {
    final String title;
    int series;
    int steps;
    int found;
    int wrong;
    int drifts;
    int alarmed;

    Score(String title) {
      this.title = title;
    }

    void add(History history, List<Change> changes) {
      series++;
      steps += history.steps.size();
      List<Integer> open = new ArrayList<>(history.steps);
      for (Change change : changes) {
        if (change.kind() == Kind.DRIFT) {
          drifts++;
        } else if (!open.removeIf(step -> Math.abs(step - change.position()) <= NEAR)) {
          wrong++;
        }
      }
      found += history.steps.size() - open.size();
      alarmed += changes.isEmpty() ? 0 : 1;
    }

    void add(Score other) {
      series += other.series;
      steps += other.steps;
      found += other.found;
      wrong += other.wrong;
      drifts += other.drifts;
      alarmed += other.alarmed;
    }

    double f1() {
      return 2.0 * found / (2 * found + wrong + steps - found);
    }
  }

  /**
   * One to three steps of a size in standard deviations, so many runs or more from one another and
   * from the ends; every other series has spikes too.
   */
  static History steps(double size, int apart, int k) {
    RandomGenerator random = random(STEPS, size, k);
    double[] logs = noise(random);
    List<Integer> steps = new ArrayList<>();
    int count = 1 + k % 3;
    for (int tries = 1; steps.size() < count; tries++) {
      int at = apart + random.nextInt(LENGTH - 2 * apart + 1);
      if (steps.stream().noneMatch(step -> Math.abs(step - at) < apart)) {
        steps.add(at);
      } else if (tries % 1000 == 0) {
        // Those placed so far leave no room.
        steps.clear();
      }
    }
    for (int at : steps) {
      double move = random.nextBoolean() ? size * NOISE : -size * NOISE;
      for (int i = at; i < LENGTH; i++) {
        logs[i] += move;
      }
    }
    if (k % 2 == 1) {
      spikes(logs, 0.04, random);
    }
    return history(logs, steps);
  }

  /** A drift of 2 to 6 standard deviations over at least half of the series. */
  static History drift(int k) {
    RandomGenerator random = random(DRIFT, 0, k);
    double[] logs = noise(random);
    int length = LENGTH / 2 + random.nextInt(LENGTH / 2 + 1);
    int from = random.nextInt(LENGTH - length + 1);
    double move = (random.nextBoolean() ? 1 : -1) * random.nextDouble(2, 6) * NOISE;
    for (int i = from; i < LENGTH; i++) {
      logs[i] += move * Math.min(1, (i - from + 1.0) / length);
    }
    return history(logs, List.of());
  }

  /** Spikes of 4 to 30 standard deviations in 2 to 10 % of the runs, and nothing else. */
  static History spikesAlone(int k) {
    RandomGenerator random = random(SPIKES, 0, k);
    double[] logs = noise(random);
    spikes(logs, random.nextDouble(0.02, 0.1), random);
    return history(logs, List.of());
  }

  static History flat(int k) {
    return history(noise(random(FLAT, 0, k)), List.of());
  }

  private static double[] noise(RandomGenerator random) {
    double[] logs = new double[LENGTH];
    for (int i = 0; i < LENGTH; i++) {
      logs[i] = random.nextGaussian(0, NOISE);
    }
    return logs;
  }

  /**
   * Mostly to one side, as slow runs are; now and then two runs in a row, and two between any two.
   */
  private static void spikes(double[] logs, double share, RandomGenerator random) {
    boolean oneSided = random.nextBoolean();
    for (int i = 0; i < LENGTH; i++) {
      if (random.nextDouble() < share) {
        double spike = random.nextDouble(4, 30) * NOISE;
        logs[i] += oneSided || random.nextBoolean() ? spike : -spike;
        if (random.nextInt(4) == 0 && i + 1 < LENGTH) {
          logs[++i] += spike;
        }
        i += 2;
      }
    }
  }

  private static History history(double[] logs, List<Integer> steps) {
    double[] values = new double[LENGTH];
    for (int i = 0; i < LENGTH; i++) {
      values[i] = 100 * Math.exp(logs[i]);
    }
    return new History(values, steps);
  }

  static List<Change> changes(History history) {
    return SeriesChanges.of(history.values, true, 1);
  }

  /** The 200 series: 24 of each size of step, 30 drifts, 30 of spikes, 20 flat ones. */
  static List<Score> run() {
    List<Score> scores = new ArrayList<>();
    for (int size = 1; size <= 5; size++) {
      Score score = new Score("steps of " + size + " σ");
      for (int k = 0; k < 24; k++) {
        History history = steps(size, APART, k);
        score.add(history, changes(history));
      }
      scores.add(score);
    }
    Score drifts = new Score("drifts of 2 to 6 σ");
    Score spikes = new Score("spikes alone");
    for (int k = 0; k < 30; k++) {
      drifts.add(drift(k), changes(drift(k)));
      spikes.add(spikesAlone(k), changes(spikesAlone(k)));
    }
    scores.add(drifts);
    scores.add(spikes);
    Score flat = new Score("nothing");
    for (int k = 0; k < 20; k++) {
      flat.add(flat(k), changes(flat(k)));
    }
    scores.add(flat);
    return scores;
  }

  /** Everything but the steps of one standard deviation. */
  static Score together(List<Score> scores) {
    Score all = new Score("all but steps of 1 σ");
    scores.stream().skip(1).forEach(all::add);
    return all;
  }

  static String table(List<Score> scores) {
    StringBuilder table =
        new StringBuilder(
            """
            | histories | series | steps | found within ±2 | steps found where there are none | drifts found | series with any change | F1 |
            | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
            """);
    for (Score score : scores) {
      table.append(
          String.format(
              Locale.ROOT,
              "| %s | %d | %d | %d | %d | %d | %d | %s |%n",
              score.title,
              score.series,
              score.steps,
              score.found,
              score.wrong,
              score.drifts,
              score.alarmed,
              score.steps == 0 ? "" : String.format(Locale.ROOT, "%.2f", score.f1())));
    }
    return table.toString();
  }
}
