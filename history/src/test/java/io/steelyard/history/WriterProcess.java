package io.steelyard.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A process that adds runs to a store, and tells each in a file once it has, until it is killed or
 * can't go on; and what must be true of the store then.
 */
final class WriterProcess {
  private static final int CELLS = 8;
  private static final int FORKS = 20;
  private static final int TRIALS = 10;

  private final String place;
  private final Path told;
  private final Path output;

  /**
   * Writers to a store.
   *
   * @param place as {@link HistoryStore#open(String)} takes it
   * @param folder for what they say; anything in it
   */
  WriterProcess(String place, Path folder) {
    this.place = place;
    this.told = folder.resolve("added.txt");
    this.output = folder.resolve("output.txt");
  }

  /**
   * Starts one.
   *
   * @param name begins the names of its runs
   * @param prefix what starts it; empty for itself
   */
  Process start(String name, String... prefix) throws IOException {
    List<String> command = new ArrayList<>(List.of(prefix));
    command.addAll(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-Xmx256m",
            // What a killed process has unpacked goes with its test.
            "-Dorg.sqlite.tmpdir=" + output.getParent(),
            "-cp",
            System.getProperty("java.class.path"),
            WriterProcess.class.getName(),
            place,
            told.toString(),
            name));
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()))
        .start();
  }

  /** What all of them have said. */
  String output() throws IOException {
    return Files.readString(output);
  }

  /** The runs that were said to be added. */
  List<String> added() throws IOException {
    if (Files.notExists(told)) {
      return List.of();
    }
    String text = Files.readString(told);
    // A name that was cut off was not told.
    return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
  }

  /** Asserts that each of them is in the store, and that no run in it lacks anything. */
  void verify(String when) throws IOException {
    try (HistoryStore store = HistoryStore.open(place)) {
      List<StoredRun> runs = store.list(RunFilter.all());
      assertThat(runs).as(when).extracting(StoredRun::name).containsAll(added());
    }
    try (Database database =
        Database.isUrl(place)
            ? Database.postgresql(place)
            : Database.sqlite(Path.of(place, HistoryStore.FILE))) {
      if (database.file().isPresent()) {
        assertThat(database.query("PRAGMA integrity_check", row -> row.getString(1)))
            .as(when)
            .containsExactly("ok");
        assertThat(database.query("PRAGMA foreign_key_check", row -> row.getString(1)))
            .as(when)
            .isEmpty();
      }
      assertThat(
              database.query(
                  "SELECT r.name FROM runs r WHERE ? <> (SELECT COUNT(*) FROM cells WHERE run = r.id)",
                  row -> row.getString(1),
                  CELLS))
          .as("%s: runs without all their cells", when)
          .isEmpty();
      assertThat(
              database.query(
                  "SELECT c.id FROM cells c WHERE ? <> (SELECT COUNT(*) FROM trials WHERE cell = c.id)",
                  row -> row.getLong(1),
                  FORKS * (TRIALS + 1)))
          .as("%s: cells without all their calls", when)
          .isEmpty();
    }
  }

  /** Adds runs and tells each. */
  public static void main(String[] arguments) throws IOException {
    Path told = Path.of(arguments[1]);
    try (HistoryStore store = HistoryStore.open(arguments[0])) {
      for (int i = 0; i < 100_000; i++) {
        String name = arguments[2] + "-" + i;
        store.add(SampleRuns.run(name, SampleRuns.NOON, SampleRuns.HERE, cells(name)));
        Files.writeString(told, name + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
      }
    }
  }

  private static List<MeasuredCell> cells(String name) {
    return IntStream.range(0, CELLS)
        .mapToObj(i -> SampleRuns.cell(name, "steelyard", "tg" + i, 100, FORKS, TRIALS))
        .toList();
  }
}
