package io.steelyard.stats;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.random.RandomGenerator;

/**
 * How often intervals that promise 95 % hold the truth, measured by simulation: the table of {@code
 * docs/statistics.md}.
 */
final class CoverageStudy {

  static final int TRIALS = 3;
  static final int[] FORKS = {3, 4, 5, 10, 30};

  private CoverageStudy() {}

  /** A world of which the truth is known. */
  enum World {
    NORMAL("normal, 1 % between and 1 % within forks", 100) {
      @Override
      void fork(double[] trials, RandomGenerator random) {
        double level = random.nextGaussian(100, 1);
        for (int i = 0; i < trials.length; i++) {
          trials[i] = level + random.nextGaussian();
        }
      }
    },
    LOGNORMAL_LIGHT("log-normal, σ 0.1", Math.exp(0.1 * 0.1)) {
      @Override
      void fork(double[] trials, RandomGenerator random) {
        logNormal(trials, 0.1, 0.1, random);
      }
    },
    LOGNORMAL("log-normal, σ 0.3", Math.exp(0.3 * 0.3)) {
      @Override
      void fork(double[] trials, RandomGenerator random) {
        logNormal(trials, 0.3, 0.3, random);
      }
    },
    AUTOCORRELATED("normal, trials autocorrelated (0.8)", 100) {
      @Override
      void fork(double[] trials, RandomGenerator random) {
        double level = random.nextGaussian(100, 1);
        double state = random.nextGaussian();
        for (int i = 0; i < trials.length; i++) {
          trials[i] = level + state;
          state = 0.8 * state + 0.6 * random.nextGaussian();
        }
      }
    },
    LOGNORMAL_HEAVY("log-normal, σ 1 between forks (bad)", Math.exp(0.5 + 0.3 * 0.3 / 2)) {
      @Override
      void fork(double[] trials, RandomGenerator random) {
        logNormal(trials, 1, 0.3, random);
      }
    },
    BIMODAL("bimodal, three forks in ten 10 % higher (bad)", 103) {
      @Override
      void fork(double[] trials, RandomGenerator random) {
        double level = random.nextDouble() < 0.3 ? 110 : 100;
        for (int i = 0; i < trials.length; i++) {
          trials[i] = level + random.nextGaussian(0, 0.5);
        }
      }
    };

    final String title;
    final double mean;

    World(String title, double mean) {
      this.title = title;
      this.mean = mean;
    }

    abstract void fork(double[] trials, RandomGenerator random);

    private static void logNormal(
        double[] trials, double between, double within, RandomGenerator random) {
      double level = random.nextGaussian(0, between);
      for (int i = 0; i < trials.length; i++) {
        trials[i] = Math.exp(level + random.nextGaussian(0, within));
      }
    }

    Sample sample(int forks, RandomGenerator random) {
      double[][] values = new double[forks][TRIALS];
      for (double[] fork : values) {
        fork(fork, random);
      }
      return Sample.of(values);
    }
  }

  /**
   * Shares of the studies whose interval held the truth.
   *
   * @param shown of the mean, as {@link Intervals#mean} shows it
   * @param student of the mean, Student's t over fork means alone
   * @param bootstrap of the mean, the bootstrap alone, where it exists in every study
   * @param pooled of the mean, Student's t over all trials as if they were independent
   * @param ratio of a ratio, as {@link Intervals#ratio} shows it
   */
  record Row(
      World world,
      int forks,
      double shown,
      double student,
      Optional<Double> bootstrap,
      double pooled,
      double ratio) {}

  static List<Row> run(int studies, int resamples) {
    List<Row> rows = new ArrayList<>();
    for (World world : World.values()) {
      for (int forks : FORKS) {
        rows.add(row(world, forks, studies, resamples));
      }
    }
    return rows;
  }

  static Row row(World world, int forks, int studies, int resamples) {
    RandomGenerator random = Seeds.generator(31L * world.name().hashCode() + forks);
    int shown = 0;
    int student = 0;
    int bootstrap = 0;
    int bootstraps = 0;
    int pooled = 0;
    int ratio = 0;
    for (int study = 0; study < studies; study++) {
      Sample sample = world.sample(forks, random);
      shown += holds(Intervals.mean(sample, 0.95, resamples, study), world.mean);
      student += holds(Optional.of(StudentT.interval(sample.forkMeans(), 0.95)), world.mean);
      Optional<Interval> resampled =
          StudentisedBootstrap.interval(
              sample.forkMeans(), sample::resampledForkMean, 0.95, resamples, study);
      bootstrap += holds(resampled, world.mean);
      bootstraps += resampled.isPresent() ? 1 : 0;
      pooled += holds(Optional.of(StudentT.interval(sample.allTrials(), 0.95)), world.mean);
      Sample other = world.sample(forks, random);
      ratio += holds(Intervals.ratio(sample, other, true, 0.95, resamples, study), 1);
    }
    ToDoubleFunction<Integer> share = hits -> (double) hits / studies;
    return new Row(
        world,
        forks,
        share.applyAsDouble(shown),
        share.applyAsDouble(student),
        bootstraps == studies ? Optional.of(share.applyAsDouble(bootstrap)) : Optional.empty(),
        share.applyAsDouble(pooled),
        share.applyAsDouble(ratio));
  }

  private static int holds(Optional<Interval> interval, double truth) {
    return interval.isPresent() && interval.get().low() <= truth && truth <= interval.get().high()
        ? 1
        : 0;
  }

  static String table(List<Row> rows) {
    StringBuilder table =
        new StringBuilder(
            """
            | world | forks | mean, as shown | t over fork means | bootstrap | t over all trials | ratio, as shown |
            | --- | ---: | ---: | ---: | ---: | ---: | ---: |
            """);
    for (Row row : rows) {
      table.append(
          "| %s | %d | **%.1f %%** | %.1f %% | %s | %.1f %% | **%.1f %%** |%n"
              .formatted(
                  row.world.title,
                  row.forks,
                  100 * row.shown,
                  100 * row.student,
                  row.bootstrap.map(share -> "%.1f %%".formatted(100 * share)).orElse("–"),
                  100 * row.pooled,
                  100 * row.ratio));
    }
    return table.toString();
  }
}
