package io.steelyard.kernels.attention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

final class PatternCacheTest {
  private static PatternCache.Key key(int length) {
    return new PatternCache.Key("test", length, 1, 1, 0);
  }

  private static int[] made(int length) {
    return new int[] {length};
  }

  @Test
  void shouldMakeAPatternOnce() {
    PatternCache cache = new PatternCache(4);
    int[] first = cache.get(key(1), () -> made(1));
    assertThat(cache.<int[]>get(key(1), () -> made(2))).isSameAs(first);
    assertThat(cache.statistics()).isEqualTo(new PatternCache.Statistics(1, 1, 0, 1));
  }

  @Test
  void shouldForgetTheLeastRecentlyUsed() {
    PatternCache cache = new PatternCache(2);
    cache.get(key(1), () -> made(1));
    cache.get(key(2), () -> made(2));
    cache.get(key(1), () -> made(1));
    cache.get(key(3), () -> made(3));
    assertThat(cache.<int[]>get(key(1), () -> made(9))).containsExactly(1);
    assertThat(cache.<int[]>get(key(2), () -> made(9))).containsExactly(9);
    assertThat(cache.statistics()).isEqualTo(new PatternCache.Statistics(2, 4, 2, 2));
  }

  @Test
  void shouldKeepNothingWithoutCapacity() {
    PatternCache cache = new PatternCache(0);
    cache.get(key(1), () -> made(1));
    cache.get(key(1), () -> made(1));
    assertThat(cache.statistics()).isEqualTo(new PatternCache.Statistics(0, 2, 0, 0));
    assertThatThrownBy(() -> new PatternCache(-1)).hasMessageContaining("-1 patterns");
  }

  @Test
  void shouldGiveEveryThreadThePatternOfItsKey() throws Exception {
    PatternCache cache = new PatternCache(16);
    try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
      List<Future<?>> all = new ArrayList<>();
      for (int thread = 0; thread < 8; thread++) {
        int first = thread;
        all.add(
            threads.submit(
                () -> {
                  for (int i = 0; i < 20_000; i++) {
                    int length = (i * 31 + first) % 24;
                    int[] pattern = cache.get(key(length), () -> made(length));
                    assertThat(pattern[0] == length).isTrue();
                  }
                }));
      }
      for (Future<?> one : all) {
        one.get();
      }
    }
    PatternCache.Statistics statistics = cache.statistics();
    assertThat(statistics.hits() + statistics.misses()).isEqualTo(160_000);
    assertThat(statistics.size()).isEqualTo(16);
  }
}
