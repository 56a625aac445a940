package io.steelyard.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.lab.record.Summary;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An engine that is slower by a known share, in real runs on the default model: no run calls it
 * anything but slower, and the intervals hold the truth. How many runs find it depends on the
 * machine's noise: it is printed, and {@code docs/statistics.md} says what was found where.
 */
@Tag("soak")
final class PlantedSlowdownTest {
  private static final int RUNS = 10;

  /** Intervals of 95 % miss more than this of ten with a chance of 0.1 %. */
  private static final int MOST_MISSED = 3;

  @TempDir private Path folder;

  @Test
  void fivePerCentInThreeMinutes() throws Exception {
    look("0.05", "3m");
  }

  @Test
  void tenPerCentInAMinute() throws Exception {
    look("0.1", "1m");
  }

  private void look(String slowdown, String budget) throws Exception {
    double truth = 1 / (1 + Double.parseDouble(slowdown));
    List<String> verdicts = new ArrayList<>();
    int missed = 0;
    for (int run = 1; run <= RUNS; run++) {
      Summary.Comparison found =
          RealRun.compare(
                  folder,
                  "-e",
                  "steelyard",
                  "-e",
                  "steelyard:slowdown=%s,label=slowed".formatted(slowdown),
                  "--metrics",
                  "prefill",
                  "--prompt",
                  "32",
                  "--budget",
                  budget)
              .getFirst();
      System.out.printf(
          "%d: slowed by %s, %s: %.3f [%.3f, %.3f] %s after %d blocks%n",
          run,
          slowdown,
          budget,
          found.ratio(),
          found.low(),
          found.high(),
          found.verdict(),
          found.blocks());
      verdicts.add(found.verdict());
      missed += found.low() <= truth && truth <= found.high() ? 0 : 1;
    }
    System.out.printf(
        "slowed by %s, %s: found in %d of %d runs%n",
        slowdown, budget, verdicts.stream().filter("slower"::equals).count(), RUNS);
    assertThat(verdicts).doesNotContain("faster", "equivalent");
    assertThat(missed).as("intervals without the truth").isLessThanOrEqualTo(MOST_MISSED);
  }
}
