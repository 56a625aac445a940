package io.steelyard.stats;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.stats.Shape.Kind;
import io.steelyard.stats.ShapeStudy.Row;
import io.steelyard.stats.ShapeStudy.World;
import java.util.Arrays;
import java.util.Locale;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ShapeTest {

  private static Sample trials(double... first) {
    double[][] forks = new double[10][20];
    RandomGenerator random = Seeds.generator(1);
    for (double[] fork : forks) {
      Arrays.setAll(fork, i -> random.nextGaussian(100, 1));
    }
    System.arraycopy(first, 0, forks[0], 0, first.length);
    return Sample.of(forks);
  }

  @Test
  void twoGroupsOfForksAreBimodal() {
    Sample sample = Sample.ofForks(100, 110.2, 100.3, 99.8, 110, 100.1, 109.9, 100.2, 99.9, 100);

    assertThat(Shape.of(sample).forks()).isEqualTo(Kind.BIMODAL);
    assertThat(Shape.of(sample).warning())
        .hasValueSatisfying(w -> assertThat(w).contains("groups"));
  }

  @Test
  void longTailOnOneSideIsSkewed() {
    Sample sample = Sample.ofForks(10, 11, 9, 14, 12, 10, 18, 31, 13, 95);

    assertThat(Shape.of(sample).forks()).isEqualTo(Kind.SKEWED);
    assertThat(Shape.of(sample).warning()).hasValueSatisfying(w -> assertThat(w).contains("tail"));
  }

  @Test
  void farForksOnBothSidesAreHeavyTails() {
    Sample sample = Sample.ofForks(100, 100.1, 99.9, 100.2, 99.8, 100.05, 99.95, 100, 112, 89);

    assertThat(Shape.of(sample).forks()).isEqualTo(Kind.HEAVY_TAILED);
    assertThat(Shape.of(sample).warning()).isPresent();
  }

  @Test
  void positiveForksThatSpreadOverHalfTheirMeanAreSkewed() {
    Sample sample = Sample.ofForks(10, 20, 30, 40, 50, 60, 70, 80, 90, 100);

    assertThat(Shape.of(sample).forks()).isEqualTo(Kind.SKEWED);
  }

  @Test
  void farTrialsAreSeenThoughTheirForksAreNot() {
    Shape shape = Shape.of(trials(120, 80, 117, 83));

    assertThat(shape.trials()).isEqualTo(Kind.HEAVY_TAILED);
    assertThat(shape.warning()).hasValueSatisfying(w -> assertThat(w).contains("trials"));
  }

  @Test
  void normalSampleHasNoWarning() {
    assertThat(Shape.of(trials())).isEqualTo(new Shape(Kind.UNREMARKABLE, Kind.UNREMARKABLE));
    assertThat(Shape.of(trials()).warning()).isEmpty();
  }

  @Test
  void fewOrEqualValuesHaveNoShape() {
    assertThat(Shape.of(Sample.ofForks(1, 2, 3, 9)))
        .isEqualTo(new Shape(Kind.UNKNOWN, Kind.UNKNOWN));
    assertThat(Shape.of(Sample.ofForks(5, 5, 5, 5, 5, 5)).warning()).isEmpty();
  }

  @Test
  void shapeDependsOnNeitherUnitNorOrigin() {
    RandomGenerator random = Seeds.generator(2);
    for (World world : new World[] {World.BIMODAL, World.HEAVY_FORKS, World.NORMAL}) {
      double[][] values = new double[10][];
      double[][] moved = new double[10][];
      Sample sample = world.sample(10, random);
      for (int fork = 0; fork < 10; fork++) {
        values[fork] = sample.fork(fork);
        moved[fork] = Arrays.stream(values[fork]).map(v -> 7 + v * 1e6).toArray();
      }

      assertThat(Shape.of(Sample.of(moved))).isEqualTo(Shape.of(Sample.of(values)));
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"LOGNORMAL", "BIMODAL"})
  void badWorldsAreSeenInFourOfFiveSamplesOfTenForks(World world) {
    // Three standard errors of a share of 300 below the measured 90 % and more.
    assertThat(ShapeStudy.row(world, 10, 300).warned()).isGreaterThan(0.8);
  }

  @ParameterizedTest
  @EnumSource(names = {"NORMAL", "NOISY"})
  void normalWorldsAreSuspectedInLessThanATenth(World world) {
    // A tenth, and three standard errors of a share of 300.
    assertThat(ShapeStudy.row(world, 10, 300).warned()).isLessThan(0.15);
  }

  /** Prints the tables of shapes in docs/statistics.md: 4,000 samples a row. */
  @Test
  @Tag("soak")
  void warningsAreAsFrequentAsTheDocumentationSays() {
    for (World world : World.values()) {
      for (int forks : new int[] {5, 10, 20, 30}) {
        Row row = ShapeStudy.row(world, forks, 4000);
        System.out.println(row);
        switch (world) {
          case NORMAL, NOISY -> assertThat(row.warned()).as(row.toString()).isLessThan(0.10);
          case LOGNORMAL, BIMODAL -> {
            if (forks >= 10) {
              assertThat(row.warned()).as(row.toString()).isGreaterThan(0.90);
            }
          }
          case HEAVY_TRIALS -> {
            if (forks >= 30) {
              assertThat(row.warned()).as(row.toString()).isGreaterThan(0.80);
            }
          }
          case BIMODAL_TRIALS, HEAVY_FORKS -> {
            // Out of reach at any of these; the documentation says how far.
          }
        }
      }
    }
  }

  /** Prints the table of the most powerful test in docs/statistics.md. */
  @Test
  @Tag("soak")
  void noTestSeesTwoDegreesInTenForksFourTimesInFive() {
    for (int forks : new int[] {10, 15, 20, 25, 30}) {
      double means = ShapeStudy.mostPower(1, forks, 4000, 0.10);
      double trials = ShapeStudy.mostPower(forks, ShapeStudy.TRIALS, 4000, 0.10);
      System.out.printf(
          Locale.ROOT, "| %d | %.0f %% | %.0f %% |%n", forks, 100 * means, 100 * trials);
      if (forks == 10) {
        assertThat(means).isLessThan(0.8);
        assertThat(trials).isLessThan(0.8);
      }
    }
  }
}
