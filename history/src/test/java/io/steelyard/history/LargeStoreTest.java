package io.steelyard.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A million timed calls: the store stays small and quick. */
class LargeStoreTest {
  private static final int RUNS = 1_000;
  private static final int CELLS = 10;
  private static final int FORKS = 10;
  private static final int CALLS = 10;
  private static final long LARGEST_BYTES = 200_000_000;
  private static final long SLOWEST_MILLIS = 300;

  @TempDir private Path folder;

  @Test
  @Tag("soak")
  void aMillionTimedCallsStaySmallAndQuick() throws Exception {
    try (HistoryStore store = HistoryStore.open(folder)) {
      for (int i = 0; i < RUNS; i++) {
        store.add(
            SampleRuns.run(
                "run" + i,
                SampleRuns.NOON.plus(Duration.ofHours(i)),
                i % 2 == 0 ? SampleRuns.HERE : SampleRuns.ELSEWHERE,
                cells(i)));
      }
      assertThat(store.list(RunFilter.all()).stream().mapToInt(StoredRun::trials).sum())
          .isEqualTo(1_000_000);
    }
    long bytes = Files.size(folder.resolve(HistoryStore.FILE));
    System.out.printf(Locale.ROOT, "a million timed calls: %,d bytes%n", bytes);
    assertThat(bytes).isLessThan(LARGEST_BYTES);

    try (HistoryStore store = HistoryStore.open(folder)) {
      isQuick("list", () -> assertThat(store.list(RunFilter.all())).hasSize(RUNS));
      TrendQuery query = TrendQuery.of("pp512").label("steelyard:threads=3");
      isQuick("trend", () -> assertThat(store.trend(query).points()).hasSize(RUNS / 2));
      isQuick(
          "trend of any label",
          () -> assertThat(store.trend(TrendQuery.of("pp512")).points()).isNotEmpty());
      isQuick(
          "trend with its changes",
          () -> assertThat(TrendChanges.of(store.trend(query)).obstacle()).isEmpty());
    }
    isQuick(
        "opening and listing",
        () -> {
          try (HistoryStore store = HistoryStore.open(folder)) {
            assertThat(store.list(RunFilter.newest(20))).hasSize(20);
          }
        });
  }

  private static void isQuick(String what, Runnable work) {
    long millis = medianMillis(work);
    System.out.printf(Locale.ROOT, "%s: %d ms%n", what, millis);
    assertThat(millis).as(what).isLessThan(SLOWEST_MILLIS);
  }

  /** One warm-up call and nine trials a fork. */
  private static List<MeasuredCell> cells(int run) {
    List<MeasuredCell> cells = new ArrayList<>();
    for (int i = 0; i < CELLS; i++) {
      cells.add(
          SampleRuns.cell(
              "run" + run,
              "steelyard:threads=" + i / 2,
              i % 2 == 0 ? "pp512" : "tg64",
              100 + run,
              FORKS,
              CALLS - 1));
    }
    return cells;
  }

  private static long medianMillis(Runnable work) {
    long[] times = new long[5];
    for (int i = 0; i < times.length; i++) {
      long begun = System.nanoTime();
      work.run();
      times[i] = (System.nanoTime() - begun) / 1_000_000;
    }
    Arrays.sort(times);
    return times[times.length / 2];
  }
}
