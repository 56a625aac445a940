package io.steelyard.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.history.HistoryStore.Outcome;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The store in a file: also what is wrong with files. */
class SqliteStoreTest extends StoreContract {
  @TempDir private Path folder;

  @Override
  HistoryStore open() {
    return HistoryStore.open(home());
  }

  /** With the characters that mean something in a URL. */
  private Path home() {
    return folder.resolve("home of 100%?#ü");
  }

  private Path file() {
    return home().resolve(HistoryStore.FILE);
  }

  @Override
  HistoryStore openFresh() {
    return HistoryStore.open(folder.resolve("fresh"));
  }

  @Override
  void execute(String sql) throws Exception {
    execute(file(), sql);
  }

  private static void execute(Path file, String... statements) throws Exception {
    try (Connection connection =
            DriverManager.getConnection("jdbc:sqlite:file:" + file.toUri().getRawPath());
        Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  private static void assertRefused(Path home, String... parts) {
    assertThatThrownBy(() -> HistoryStore.open(home).close())
        .isInstanceOfSatisfying(
            HistoryException.class,
            e -> assertThat(e.getMessage()).contains(parts).doesNotContain("\n"));
  }

  @Test
  void theFileLiesInTheFolderThatWasGiven() {
    assertThat(file()).isRegularFile();
    assertThat(store.place()).isEqualTo(file().toString());
  }

  @Test
  void readersAndAWriterDoNotWaitForEachOther() throws Exception {
    store.add(SampleRuns.run("one", SampleRuns.NOON, 100));
    try (Database writer = Database.sqlite(file())) {
      writer.transaction(
          () -> {
            writer.update("DELETE FROM runs");
            assertThat(store.list(RunFilter.all())).hasSize(1);
            return null;
          });
    }
    assertThat(store.list(RunFilter.all())).isEmpty();
  }

  @Test
  void everyMigrationIsCountedInTheVersion() throws Exception {
    Path migrations = Path.of(Schema.class.getResource("schema/V1__runs.sql").toURI()).getParent();
    try (var files = Files.list(migrations)) {
      assertThat(files).hasSize(Schema.VERSION);
    }
  }

  @Test
  void aFileThatIsNoDatabaseIsRefusedAndLeftAsItIs() throws Exception {
    Path home = Files.createDirectory(folder.resolve("garbage"));
    Path file = home.resolve(HistoryStore.FILE);
    String garbage = "this is a text, longer than the header of a database, and no database\n";
    Files.writeString(file, garbage.repeat(40));

    assertRefused(home, file.toString(), "is no history", "move it away");
    assertThat(file).hasContent(garbage.repeat(40));
  }

  @Test
  void aDatabaseOfSomethingElseIsRefusedAndLeftAsItIs() throws Exception {
    Path home = Files.createDirectory(folder.resolve("foreign"));
    Path file = home.resolve(HistoryStore.FILE);
    execute(file, "CREATE TABLE bookmarks (url TEXT)");
    byte[] before = Files.readAllBytes(file);

    assertRefused(home, file.toString(), "bookmarks");
    assertThat(file).hasBinaryContent(before);
  }

  @Test
  void aDamagedFileIsSaidToBeDamaged() throws Exception {
    Path home = Files.createDirectory(folder.resolve("damaged"));
    Path file = home.resolve(HistoryStore.FILE);
    try (HistoryStore whole = HistoryStore.open(home)) {
      for (int i = 0; i < 20; i++) {
        whole.add(SampleRuns.run("run" + i, SampleRuns.NOON, SampleRuns.HERE, 100, 50, 20));
      }
    }
    byte[] bytes = Files.readAllBytes(file);
    for (int i = 4096; i < bytes.length; i++) {
      bytes[i] = (byte) (i * 31);
    }
    Files.write(file, bytes);

    assertRefused(home, file.toString(), "is damaged", "add the runs again");
  }

  @Test
  void anEmptyFileBecomesAStore() throws Exception {
    Path home = Files.createDirectory(folder.resolve("empty"));
    Files.createFile(home.resolve(HistoryStore.FILE));

    try (HistoryStore made = HistoryStore.open(home)) {
      assertThat(made.add(SampleRuns.run("one", SampleRuns.NOON, 100))).isEqualTo(Outcome.ADDED);
    }
  }

  @Test
  void aStoreThatWasOnlyBegunIsFinished() throws Exception {
    // Killed between making the table of versions and the others.
    Path home = Files.createDirectory(folder.resolve("begun"));
    try (HistoryStore whole = HistoryStore.open(home)) {
      assertThat(whole.list(RunFilter.all())).isEmpty();
    }
    execute(
        home.resolve(HistoryStore.FILE),
        "DELETE FROM flyway_schema_history",
        "DROP TABLE trials",
        "DROP TABLE comparisons",
        "DROP TABLE cells",
        "DROP TABLE runs",
        "DROP TABLE hardware");

    try (HistoryStore again = HistoryStore.open(home)) {
      assertThat(again.add(SampleRuns.run("one", SampleRuns.NOON, 100))).isEqualTo(Outcome.ADDED);
    }
  }

  @Test
  void aFolderInPlaceOfTheFileIsRefused() throws Exception {
    Path home = folder.resolve("occupied");
    Files.createDirectories(home.resolve(HistoryStore.FILE));

    assertRefused(home, home.resolve(HistoryStore.FILE).toString(), "choose another place");
  }

  @Test
  void aFileInPlaceOfTheFolderIsRefused() throws Exception {
    Path home = Files.createFile(folder.resolve("a file"));

    assertRefused(home, home.toString(), "choose another place");
  }

  @Test
  void aStoreThatMayOnlyBeReadCanBeReadButNotWritten() {
    store.add(SampleRuns.run("one", SampleRuns.NOON, 100));
    try (HistoryStore readOnly = HistoryStore.prepared(Database.sqlite(file(), true))) {
      assertThat(readOnly.list(RunFilter.all())).hasSize(1);
      assertThatThrownBy(() -> readOnly.add(SampleRuns.run("two", SampleRuns.NOON, 100)))
          .isInstanceOf(HistoryException.class)
          .hasMessageContaining("can't write " + file())
          .hasMessageContaining("may only be read");
    }
    store.close();
    try (HistoryStore readOnly = HistoryStore.prepared(Database.sqlite(file(), true))) {
      assertThat(readOnly.list(RunFilter.all())).as("without a log beside it").hasSize(1);
    }
    store = open();
    assertThat(store.list(RunFilter.all())).hasSize(1);
    store.close();
  }

  @Test
  void aFullDiskLosesNothingThatWasThere() {
    store.add(SampleRuns.run("one", SampleRuns.NOON, 100));
    RunRecord large = SampleRuns.run("two", SampleRuns.NOON, SampleRuns.HERE, 100, 200, 50);
    try (Database full = Database.sqlite(file())) {
      // SQLite refuses a page over this count as it refuses one that the disk has no room for.
      full.query("PRAGMA max_page_count = 40", row -> row.getInt(1));
      HistoryStore narrow = HistoryStore.prepared(full);

      assertThatThrownBy(() -> narrow.add(large))
          .isInstanceOf(HistoryException.class)
          .hasMessageContaining("can't write " + file())
          .hasMessageContaining("the disk is full")
          .hasMessageContaining("make room");

      assertThat(narrow.list(RunFilter.all())).extracting(StoredRun::name).containsExactly("one");
    }
    assertThat(store.add(large)).isEqualTo(Outcome.ADDED);
  }

  @Test
  void theRoomOfRemovedRunsIsGivenBack() throws Exception {
    store.add(SampleRuns.run("large", SampleRuns.NOON, SampleRuns.HERE, 100, 200, 200));
    store.close();
    long before = Files.size(file());
    store = open();

    store.remove(store.list(RunFilter.all()));
    store.close();

    assertThat(Files.size(file())).isLessThan(before / 2);
  }

  @Test
  void aPlaceThatIsNoServerSaysSoWithoutThePassword() {
    assertThatThrownBy(
            () -> HistoryStore.open("jdbc:postgresql://127.0.0.1:1/x?user=me&password=secret"))
        .isInstanceOf(HistoryException.class)
        .hasMessageContaining("jdbc:postgresql://127.0.0.1:1/x")
        .hasMessageContaining("no server answers there")
        .hasMessageNotContaining("secret");
    assertThatThrownBy(() -> HistoryStore.open("jdbc:mysql://host/x?password=secret"))
        .isInstanceOf(HistoryException.class)
        .hasMessageContaining("jdbc:postgresql:")
        .hasMessageNotContaining("secret");
  }
}
