package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class CacheSpeedupTest {
  private static CacheSpeedup of(Map<Integer, Double> prefill, Map<Integer, Double> decode) {
    return new CacheSpeedup(new TreeMap<>(prefill), new TreeMap<>(decode));
  }

  @Test
  void whereATokenAlwaysTakesTheSameTheSpeedupIsTheRatioOfTokens() {
    CacheSpeedup.Prediction found = of(Map.of(10, 10.0, 20, 20.0), Map.of(10, 1.0)).predict(10, 4);
    // 10 + 11 + 12 + 13 tokens against 10 and three more.
    assertThat(found.none()).isCloseTo(46, within(1e-12));
    assertThat(found.full()).isCloseTo(13, within(1e-12));
    assertThat(found.speedup()).isCloseTo(46.0 / 13, within(1e-12));
    assertThat(found.caching()).isCloseTo(46.0 / 13, within(1e-12));
    assertThat(found.batching()).isCloseTo(1, within(1e-12));
  }

  @Test
  void fasterPassesOverManyTokensTakeAwayFromWhatCachingGives() {
    CacheSpeedup.Prediction found =
        of(Map.of(10, 2.5, 20, 5.0), Map.of(0, 1.0, 20, 1.0)).predict(10, 4);
    assertThat(found.none()).isCloseTo(46 / 4.0, within(1e-12));
    assertThat(found.full()).isCloseTo(2.5 + 3, within(1e-12));
    assertThat(found.caching()).isCloseTo(46.0 / 13, within(1e-12));
    assertThat(found.caching() / found.batching()).isCloseTo(found.speedup(), within(1e-12));
  }

  @Test
  void timesBetweenMeasuredLengthsLieBetweenTheirs() {
    assertThat(of(Map.of(1, 1.0, 3, 9.0), Map.of(1, 1.0)).predict(2, 1).none())
        .isCloseTo(5, within(1e-12));
  }
}
