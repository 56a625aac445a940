package io.steelyard.models.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class SamplerTest {
  private static MemorySegment logits(double... values) {
    float[] floats = new float[values.length];
    for (int i = 0; i < values.length; i++) {
      floats[i] = (float) values[i];
    }
    return MemorySegment.ofArray(floats);
  }

  /** Shares of 20,000 draws; a share's standard error is at most 0.0036. */
  private static double[] shares(Sampling sampling, MemorySegment logits) {
    Sampler sampler = new Sampler(sampling);
    double[] shares = new double[(int) logits.byteSize() / Float.BYTES];
    for (int i = 0; i < 20_000; i++) {
      shares[sampler.next(logits)] += 1 / 20_000.0;
    }
    return shares;
  }

  @Test
  void greedyTakesTheLowestIdOfEquals() {
    Sampler sampler = new Sampler(Sampling.GREEDY);
    assertThat(sampler.next(logits(1, 3, 2, 3))).isEqualTo(1);
    assertThat(sampler.next(logits(-5, -5, -5))).isZero();
    assertThat(sampler.next(logits(-0.0, 0.0))).isZero();
    assertThat(sampler.next(logits(Double.NaN, 1, Double.NEGATIVE_INFINITY))).isEqualTo(1);
  }

  @Test
  void marginIsTheGapBetweenTheTwoLargest() {
    assertThat(Sampler.margin(logits(1, 5, 2, 4.5))).isEqualTo(0.5f);
    assertThat(Sampler.margin(logits(5, 1, 5))).isZero();
    assertThat(Sampler.margin(logits(7))).isZero();
  }

  @Test
  void temperatureOneDrawsTheSoftmax() {
    double[] shares =
        shares(new Sampling(1, 0, 1, 0, 1), logits(Math.log(0.5), Math.log(0.3), Math.log(0.2)));
    assertThat(shares[0]).isCloseTo(0.5, within(0.015));
    assertThat(shares[1]).isCloseTo(0.3, within(0.015));
    assertThat(shares[2]).isCloseTo(0.2, within(0.015));
  }

  @Test
  void temperatureFlattens() {
    double[] shares = shares(new Sampling(2, 0, 1, 0, 2), logits(Math.log(0.8), Math.log(0.2)));
    // Square roots of 0.8 and 0.2 stand as 2 to 1.
    assertThat(shares[0]).isCloseTo(2 / 3.0, within(0.015));
  }

  @Test
  void topKKeepsTheMostLikelyAndOfEqualsTheLowestIds() {
    double[] shares = shares(new Sampling(1, 2, 1, 0, 3), logits(0, 1, 1, 1));
    assertThat(shares[0]).isZero();
    assertThat(shares[1]).isCloseTo(0.5, within(0.015));
    assertThat(shares[2]).isCloseTo(0.5, within(0.015));
    assertThat(shares[3]).isZero();
  }

  @Test
  void topPKeepsTheTokenThatCrosses() {
    MemorySegment logits = logits(Math.log(0.1), Math.log(0.5), Math.log(0.15), Math.log(0.25));
    double[] shares = shares(new Sampling(1, 0, 0.6f, 0, 4), logits);
    assertThat(shares[1]).isCloseTo(2 / 3.0, within(0.015));
    assertThat(shares[3]).isCloseTo(1 / 3.0, within(0.015));
    assertThat(shares[0] + shares[2]).isZero();
  }

  @Test
  void minPDropsWhatIsFarBelowTheBest() {
    MemorySegment logits = logits(Math.log(0.6), Math.log(0.35), Math.log(0.05));
    double[] shares = shares(new Sampling(1, 0, 1, 0.5f, 5), logits);
    assertThat(shares[2]).isZero();
    assertThat(shares[1]).isPositive();
  }

  @Test
  void oneTokenAlwaysRemains() {
    Sampler sampler = new Sampler(new Sampling(1, 1, 1e-6f, 1, 6));
    for (int i = 0; i < 100; i++) {
      assertThat(sampler.next(logits(0, 2, 1))).isEqualTo(1);
    }
  }

  @Test
  void theSeedFixesTheDraws() {
    MemorySegment logits = logits(0, 0.1, 0.2, 0.3, 0.4);
    assertThat(draws(7, logits)).isEqualTo(draws(7, logits)).isNotEqualTo(draws(8, logits));
  }

  private static int[] draws(long seed, MemorySegment logits) {
    Sampler sampler = new Sampler(new Sampling(1, 0, 1, 0, seed));
    int[] draws = new int[64];
    Arrays.setAll(draws, i -> sampler.next(logits));
    return draws;
  }

  @Test
  void absurdSettingsAreRefused() {
    assertThatThrownBy(() -> new Sampling(-1, 0, 1, 0, 0)).hasMessageContaining("temperature -1.0");
    assertThatThrownBy(() -> new Sampling(Float.NaN, 0, 1, 0, 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Sampling(1, -1, 1, 0, 0)).hasMessageContaining("top-k -1");
    assertThatThrownBy(() -> new Sampling(1, 0, 0, 0, 0)).hasMessageContaining("top-p 0.0");
    assertThatThrownBy(() -> new Sampling(1, 0, 1, 1.5f, 0)).hasMessageContaining("min-p 1.5");
    assertThatThrownBy(() -> new Sampling(1, 0, 1.5f, 1, 0, Penalties.NONE, 0))
        .hasMessageContaining("typical 1.5");
    assertThatThrownBy(() -> Sampler.argmax(logits())).hasMessageContaining("no logits");
  }
}
