package io.steelyard.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
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
    survives(3);
  }

  @Test
  @Tag("soak")
  void aWriterKilledThirtyTimesLeavesASoundStore() throws Exception {
    survives(30);
  }

  private void survives(int kills) throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    Path home = folder.resolve("home");
    Path told = folder.resolve("added.txt");
    for (int kill = 0; kill < kills; kill++) {
      Process writer = start(home, told, "kill" + kill);
      writer.waitFor(random.nextInt(LONGEST_LIFE_MILLIS), TimeUnit.MILLISECONDS);
      writer.destroyForcibly().waitFor();
      verify(home, told, seed);
    }
    // One more that isn't killed: what the others left is no hindrance.
    Process last = start(home, told, "last");
    for (int waited = 0; !added(told).contains("last-0") && waited < 600; waited++) {
      assertThat(last.waitFor(100, TimeUnit.MILLISECONDS))
          .as(Files.readString(folder.resolve("output.txt")) + " seed " + seed)
          .isFalse();
    }
    last.destroyForcibly().waitFor();
    verify(home, told, seed);
    assertThat(added(told)).contains("last-0");
  }

  private static void verify(Path home, Path told, long seed) throws IOException {
    try (HistoryStore store = HistoryStore.open(home);
        Database database = Database.sqlite(home.resolve(HistoryStore.FILE))) {
      assertThat(database.query("PRAGMA integrity_check", row -> row.getString(1)))
          .as("seed %d", seed)
          .containsExactly("ok");
      assertThat(database.query("PRAGMA foreign_key_check", row -> row.getString(1)))
          .as("seed %d", seed)
          .isEmpty();
      List<StoredRun> runs = store.list(RunFilter.all());
      assertThat(runs).as("seed %d", seed).extracting(StoredRun::name).containsAll(added(told));
      for (StoredRun run : runs) {
        List<RunContents.Cell> cells = store.show(run).cells();
        assertThat(cells).hasSize(Writer.CELLS);
        for (RunContents.Cell cell : cells) {
          assertThat(store.values(cell.number()))
              .as("seed %d, %s", seed, run.name())
              .hasSize(Writer.FORKS * (Writer.TRIALS + 1));
        }
      }
    }
  }

  private static List<String> added(Path told) throws IOException {
    if (Files.notExists(told)) {
      return List.of();
    }
    String text = Files.readString(told);
    // A name that was cut off was not told.
    return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
  }

  private Process start(Path home, Path told, String name) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-Xmx256m",
            // What a killed process has unpacked goes with this test.
            "-Dorg.sqlite.tmpdir=" + folder,
            "-cp",
            System.getProperty("java.class.path"),
            Writer.class.getName(),
            home.toString(),
            told.toString(),
            name)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(folder.resolve("output.txt").toFile()))
        .start();
  }

  /** Adds runs until it is killed, and tells each that it has added. */
  static final class Writer {
    static final int CELLS = 8;
    static final int FORKS = 20;
    static final int TRIALS = 10;

    private Writer() {}

    public static void main(String[] arguments) throws IOException {
      Path told = Path.of(arguments[1]);
      try (HistoryStore store = HistoryStore.open(arguments[0])) {
        for (int i = 0; i < 100_000; i++) {
          String name = arguments[2] + "-" + i;
          store.add(SampleRuns.run(name, SampleRuns.NOON, SampleRuns.HERE, cells(name)));
          Files.writeString(
              told, name + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
      }
    }

    private static List<MeasuredCell> cells(String name) {
      return IntStream.range(0, CELLS)
          .mapToObj(i -> SampleRuns.cell(name, "steelyard", "tg" + i, 100, FORKS, TRIALS))
          .toList();
    }
  }
}
