package io.steelyard.stats;

import java.util.Arrays;
import java.util.Locale;
import java.util.random.RandomGenerator;

/**
 * How often {@link Shape} warns in worlds whose shape is known, and how often any test could: the
 * tables of {@code docs/statistics.md}.
 */
final class ShapeStudy {

  static final int TRIALS = 3;

  private ShapeStudy() {}

  /** A world: what its forks and trials are like. */
  enum World {
    NORMAL("normal, 1 % between and 1 % within forks") {
      @Override
      double trial(double level, RandomGenerator random) {
        return level + random.nextGaussian();
      }
    },
    NOISY("normal, 8 % between and 2 % within forks") {
      @Override
      double level(RandomGenerator random) {
        return random.nextGaussian(100, 8);
      }

      @Override
      double trial(double level, RandomGenerator random) {
        return level + 2 * random.nextGaussian();
      }
    },
    LOGNORMAL("log-normal, σ 1 between forks") {
      @Override
      double level(RandomGenerator random) {
        return random.nextGaussian();
      }

      @Override
      double trial(double level, RandomGenerator random) {
        return Math.exp(level + random.nextGaussian(0, 0.3));
      }
    },
    BIMODAL("bimodal, three forks in ten 10 % higher") {
      @Override
      double level(RandomGenerator random) {
        return random.nextDouble() < 0.3 ? 110 : 100;
      }

      @Override
      double trial(double level, RandomGenerator random) {
        return level + random.nextGaussian(0, 0.5);
      }
    },
    BIMODAL_TRIALS("bimodal, three trials in ten 10 % higher") {
      @Override
      double trial(double level, RandomGenerator random) {
        return level * (random.nextDouble() < 0.3 ? 1.1 : 1) + random.nextGaussian(0, 0.5);
      }
    },
    HEAVY_TRIALS("Student's t, 2 degrees, in the trials") {
      @Override
      double trial(double level, RandomGenerator random) {
        return level + student(random);
      }
    },
    HEAVY_FORKS("Student's t, 2 degrees, in the forks alone") {
      @Override
      double level(RandomGenerator random) {
        return 100 + student(random);
      }

      @Override
      double trial(double level, RandomGenerator random) {
        return level + random.nextGaussian(0, 0.5);
      }
    };

    final String title;

    World(String title) {
      this.title = title;
    }

    double level(RandomGenerator random) {
      return random.nextGaussian(100, 1);
    }

    abstract double trial(double level, RandomGenerator random);

    Sample sample(int forks, RandomGenerator random) {
      double[][] values = new double[forks][TRIALS];
      for (double[] fork : values) {
        double level = level(random);
        Arrays.setAll(fork, i -> trial(level, random));
      }
      return Sample.of(values);
    }
  }

  /** With two degrees of freedom Student's quantile has a closed form. */
  private static double student(RandomGenerator random) {
    double u = random.nextDouble();
    return (2 * u - 1) / Math.sqrt(2 * u * (1 - u));
  }

  /** Shares of samples with a warning, with a remarkable shape of forks, and of trials. */
  record Row(World world, int forks, double warned, double forkShapes, double trialShapes) {

    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "| %s | %d | **%.0f %%** | %.0f %% | %.0f %% |",
          world.title,
          forks,
          100 * warned,
          100 * forkShapes,
          100 * trialShapes);
    }
  }

  static Row row(World world, int forks, int samples) {
    RandomGenerator random = Seeds.generator(17L * world.name().hashCode() + forks);
    int warned = 0;
    int forkShapes = 0;
    int trialShapes = 0;
    for (int i = 0; i < samples; i++) {
      Shape shape = Shape.of(world.sample(forks, random));
      warned += shape.warning().isPresent() ? 1 : 0;
      forkShapes += shape.forks().remarkable() ? 1 : 0;
      trialShapes += shape.trials().remarkable() ? 1 : 0;
    }
    return new Row(
        world,
        forks,
        (double) warned / samples,
        (double) forkShapes / samples,
        (double) trialShapes / samples);
  }

  /**
   * The share of samples of Student's t with two degrees in which the most powerful of all tests
   * that depend on neither the groups' locations nor their common scale tells them from normal
   * ones, when it may take that share of normal ones for them. That test compares the likelihoods
   * integrated over locations and scale (Hájek and Šidák, "Theory of Rank Tests" (1967), section
   * II.2); under a normal the integral depends on the pooled variance alone.
   */
  static double mostPower(int groups, int size, int samples, double level) {
    RandomGenerator random = Seeds.generator(100L * groups + size);
    double[] normal = new double[samples];
    double[] heavy = new double[samples];
    double[][] values = new double[groups][size];
    for (int i = 0; i < samples; i++) {
      for (double[] group : values) {
        Arrays.setAll(group, _ -> random.nextGaussian());
      }
      normal[i] = integrated(values);
      for (double[] group : values) {
        Arrays.setAll(group, _ -> student(random));
      }
      heavy[i] = integrated(values);
    }
    double bound = Quantiles.of(normal, 1 - level);
    return (double) Arrays.stream(heavy).filter(figure -> figure > bound).count() / samples;
  }

  /** Logarithm of the likelihood under t over that under a normal, integrated on a grid. */
  private static double integrated(double[][] groups) {
    double squares = Arrays.stream(groups).mapToDouble(Moments::squaredDeviations).sum();
    int degrees = Arrays.stream(groups).mapToInt(group -> group.length - 1).sum();
    double deviation = Math.sqrt(squares / degrees);
    double total = 0;
    double offset = Double.NaN;
    for (int v = -24; v <= 12; v++) {
      double scale = deviation * Math.exp(v / 6.0);
      double log = 0;
      for (double[] group : groups) {
        log += overLocations(group, scale) - group.length * Math.log(scale);
      }
      offset = Double.isNaN(offset) ? log : offset;
      if (log > offset + 600) {
        total *= Math.exp(offset - log);
        offset = log;
      }
      total += Math.exp(log - offset);
    }
    return Math.log(total) + offset + degrees * Math.log(deviation);
  }

  private static double overLocations(double[] group, double scale) {
    double low = Arrays.stream(group).min().orElseThrow() - 8 * scale;
    double high = Arrays.stream(group).max().orElseThrow() + 8 * scale;
    double step = Math.max(0.4 * scale, (high - low) / 400);
    double sum = 0;
    for (double location = low; location <= high; location += step) {
      double product = 1;
      for (double value : group) {
        double z = (value - location) / scale;
        product *= 2 + z * z;
      }
      sum += 1 / (product * Math.sqrt(product));
    }
    return Math.log(sum * step);
  }
}
