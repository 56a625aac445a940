package io.steelyard.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Writers that are killed at random moments, the first ones while they make the store: it stays
 * sound, keeps every run that was said to be added, and holds no half of one.
 */
class KilledWriterTest {
  private static final int LONGEST_LIFE_MILLIS = 2_500;

  @TempDir private Path folder;

  @Test
  void aWriterKilledThreeTimesLeavesASoundStore() throws Exception {
    survives(folder.resolve("home").toString(), folder, 3);
  }

  /** In stores of their own, so that looking through them doesn't take longer and longer. */
  @Test
  @Tag("soak")
  void aWriterKilledAHundredTimesLeavesSoundStores() throws Exception {
    int runs = 0;
    for (int store = 0; store < 5; store++) {
      Path own = Files.createDirectory(folder.resolve("store" + store));
      runs += survives(own.resolve("home").toString(), own, 20);
    }
    System.out.printf(
        Locale.ROOT, "100 writers killed: %d runs said to be added, all there, none half%n", runs);
  }

  @Test
  @Tag("soak")
  void aWriterToPostgresqlKilledManyTimesLeavesASoundStore() throws Exception {
    try (PostgresqlServer server = PostgresqlServer.start()) {
      int runs = survives(server.url("killed"), folder, 20);
      System.out.printf(
          Locale.ROOT, "20 writers to PostgreSQL killed: %d runs said to be added%n", runs);
    }
  }

  @Test
  @Tag("soak")
  void twoProcessesThatWriteAtOnceBothGoOn() throws Exception {
    goOn(new WriterProcess(folder.resolve("home").toString(), folder));
    try (PostgresqlServer server = PostgresqlServer.start()) {
      Path own = Files.createDirectory(folder.resolve("postgresql"));
      goOn(new WriterProcess(server.url("two"), own));
    }
  }

  private static void goOn(WriterProcess writers) throws Exception {
    Process first = writers.start("first");
    Process second = writers.start("second");
    try {
      while (!writers.added().containsAll(List.of("first-100", "second-100"))) {
        assertThat(first.waitFor(100, TimeUnit.MILLISECONDS)).as(writers.output()).isFalse();
        assertThat(second.isAlive()).as(writers.output()).isTrue();
      }
    } finally {
      first.destroyForcibly().waitFor();
      second.destroyForcibly().waitFor();
    }
    writers.verify("two at once");
    System.out.printf(Locale.ROOT, "two writers at once: %d runs added%n", writers.added().size());
  }

  /** Returns how many runs were said to be added. */
  private static int survives(String place, Path own, int kills) throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    WriterProcess writers = new WriterProcess(place, own);
    for (int kill = 0; kill < kills; kill++) {
      Process writer = writers.start("kill" + kill);
      writer.waitFor(random.nextInt(LONGEST_LIFE_MILLIS), TimeUnit.MILLISECONDS);
      writer.destroyForcibly().waitFor();
      writers.verify("seed " + seed + ", kill " + kill);
    }
    // One more that isn't killed: what the others left is no hindrance.
    Process last = writers.start("last");
    for (int waited = 0; !writers.added().contains("last-0") && waited < 600; waited++) {
      assertThat(last.waitFor(100, TimeUnit.MILLISECONDS))
          .as("%s seed %d", writers.output(), seed)
          .isFalse();
    }
    last.destroyForcibly().waitFor();
    writers.verify("seed " + seed);
    assertThat(writers.added()).contains("last-0");
    return writers.added().size();
  }
}
