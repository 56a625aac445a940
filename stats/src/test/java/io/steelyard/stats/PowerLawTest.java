package io.steelyard.stats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

final class PowerLawTest {
  private static final double[] LENGTHS = {1, 2, 4, 8, 16};

  private static double[] values(double factor, double exponent) {
    return DoubleStream.of(LENGTHS).map(x -> factor * Math.pow(x, exponent)).toArray();
  }

  @Test
  void pointsOfALawGiveItBack() {
    PowerLaw law = PowerLaw.through(LENGTHS, values(3, 1.5));

    assertThat(law.exponent()).isCloseTo(1.5, within(1e-12));
    assertThat(law.at(64)).isCloseTo(3 * 512, within(1e-9));
    Interval exact = law.prediction(64, 0.95).orElseThrow();
    assertThat(exact.high() - exact.low()).isLessThan(1e-9);
  }

  @Test
  void aPredictionIsThatOfLeastSquares() {
    PowerLaw law = PowerLaw.through(LENGTHS, new double[] {1.1, 1.9, 4.2, 7.7, 16.5});
    double n = 5;
    double off = Math.log(32) - law.meanLog();
    // Student's t of 3 degrees of freedom leaves 2.5 % above 3.18245.
    double half = 3.18244631 * law.deviation() * Math.sqrt(1 + 1 / n + off * off / law.squares());

    Interval interval = law.prediction(32, 0.95).orElseThrow();

    assertThat(Math.log(interval.high() / interval.estimate())).isCloseTo(half, within(1e-6));
    assertThat(Math.log(interval.estimate() / interval.low())).isCloseTo(half, within(1e-6));
  }

  @Test
  void predictionsHoldWhatComesNextAsOftenAsTheySay() {
    Random random = new Random(7);
    int held = 0;
    int all = 4000;
    for (int i = 0; i < all; i++) {
      double[] noisy =
          DoubleStream.of(LENGTHS)
              .map(x -> x * x * Math.exp(0.1 * random.nextGaussian()))
              .toArray();
      double next = 32 * 32 * Math.exp(0.1 * random.nextGaussian());
      Interval interval = PowerLaw.through(LENGTHS, noisy).prediction(32, 0.95).orElseThrow();
      held += interval.low() <= next && next <= interval.high() ? 1 : 0;
    }

    // Four standard deviations of 4,000 draws.
    assertThat((double) held / all).isCloseTo(0.95, within(0.014));
  }

  @Test
  void theSlowerGrowingLawFallsBelowTheOtherWhereTheyMeet() {
    PowerLaw linear = PowerLaw.through(LENGTHS, values(100, 1));
    PowerLaw square = PowerLaw.through(LENGTHS, values(1, 2));

    assertThat(linear.fallsBelow(square).orElseThrow()).isCloseTo(100, within(1e-9));
    assertThat(square.fallsBelow(linear)).isEmpty();
    assertThat(linear.fallsBelow(linear)).isEmpty();
  }

  @Test
  void fewPointsPredictWithoutAnInterval() {
    assertThat(PowerLaw.proportional(4, 8).at(16)).isCloseTo(32, within(1e-12));
    assertThat(PowerLaw.proportional(4, 8).prediction(16, 0.95)).isEmpty();
    PowerLaw two = PowerLaw.through(new double[] {1, 2}, new double[] {1, 4});
    assertThat(two.prediction(4, 0.95)).isEmpty();
    assertThatThrownBy(() -> PowerLaw.through(new double[] {2, 2}, new double[] {1, 4}))
        .hasMessageContaining("one place");
  }
}
