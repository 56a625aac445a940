package io.steelyard.history;

import io.steelyard.lab.RunException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.locks.ReentrantLock;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.configuration.FluentConfiguration;

/**
 * The tables of a store: made where there are none, brought up to date where they are older,
 * refused where they are newer. The migrations are the files beside {@code V1__runs.sql}.
 */
final class Schema {
  /** The newest migration that there is. */
  static final int VERSION = 1;

  private static final String TABLE = "flyway_schema_history";
  private static final String MIGRATIONS = "classpath:io/steelyard/history/schema";

  /** A file lock holds off other processes only. */
  private static final ReentrantLock HERE = new ReentrantLock();

  /** Kept, since the levels of loggers that nobody keeps are forgotten. */
  private static final Logger FLYWAY = Logger.getLogger("org.flywaydb");

  private Schema() {}

  /** Makes sure that the store has this version's tables. */
  static void prepare(Database database) {
    if (isCurrent(database)) {
      return;
    }
    if (database.file().isEmpty()) {
      migrate(database); // the server lets one at a time do it
      return;
    }
    Path lockFile = Path.of(database.file().get() + ".lock");
    HERE.lock();
    try (FileChannel channel =
            FileChannel.open(lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock _ = channel.lock()) {
      if (!isCurrent(database)) {
        keepLog(database);
        migrate(database);
      }
    } catch (IOException e) {
      throw new HistoryException(
          "can't write %s (%s): allow writing there or choose another place"
              .formatted(lockFile, RunException.reason(e)),
          e);
    } finally {
      HERE.unlock();
    }
  }

  /** The version of a store's tables; empty where there are none. */
  static OptionalInt version(Database database) {
    List<String> tables = tables(database);
    if (tables.isEmpty()) {
      return OptionalInt.empty();
    }
    if (!tables.contains(TABLE)) {
      throw new HistoryException(
          "%s is no history: it holds tables of something else (%s); choose another place"
              .formatted(database.place(), tables.getFirst()));
    }
    int version =
        database
            .query(
                "SELECT COALESCE(MAX(CAST(version AS INTEGER)), 0) FROM "
                    + TABLE
                    + " WHERE success",
                row -> row.getInt(1))
            .getFirst();
    return version == 0 ? OptionalInt.empty() : OptionalInt.of(version);
  }

  private static boolean isCurrent(Database database) {
    OptionalInt version = version(database);
    if (version.isPresent() && version.getAsInt() > VERSION) {
      throw new HistoryException(
          ("%s was written by a newer Steelyard (its tables are version %d, this one knows %d): "
                  + "use that one, or choose another place")
              .formatted(database.place(), version.getAsInt(), VERSION));
    }
    return version.isPresent() && version.getAsInt() == VERSION;
  }

  private static List<String> tables(Database database) {
    return database.schema().isPresent()
        ? database.query(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = ? ORDER BY 1",
            row -> row.getString(1),
            database.schema().get())
        : database.query(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
                + " ORDER BY 1",
            row -> row.getString(1));
  }

  /**
   * Readers and a writer don't wait for each other then. The file remembers it; switching is no
   * matter that a busy timeout covers, so it is done once, under the lock.
   */
  private static void keepLog(Database database) {
    try (Statement statement = database.connection().createStatement()) {
      statement.execute("PRAGMA journal_mode = WAL");
    } catch (SQLException e) {
      throw StoreFailure.of("write", database.place(), e);
    }
  }

  private static void migrate(Database database) {
    FLYWAY.setLevel(Level.OFF); // what goes wrong is thrown
    boolean sqlite = database.file().isPresent();
    FluentConfiguration configuration =
        Flyway.configure(Schema.class.getClassLoader())
            .dataSource(database.source())
            .locations(MIGRATIONS)
            .placeholders(
                sqlite
                    ? Map.of(
                        "key", "INTEGER PRIMARY KEY",
                        "real", "REAL",
                        "clustered", " WITHOUT ROWID")
                    : Map.of(
                        "key", "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
                        "real", "DOUBLE PRECISION",
                        "clustered", ""));
    database
        .schema()
        .ifPresent(
            schema -> configuration.schemas(schema).defaultSchema(schema).createSchemas(true));
    try {
      configuration.load().migrate();
    } catch (FlywayException e) {
      throw failure(database, e);
    }
  }

  private static HistoryException failure(Database database, FlywayException e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException sql) {
        return StoreFailure.of("write", database.place(), sql);
      }
    }
    return new HistoryException(
        "can't make the tables of %s: %s".formatted(database.place(), e.getMessage()), e);
  }
}
