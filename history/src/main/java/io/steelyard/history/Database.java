package io.steelyard.history;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteDataSource;
import org.sqlite.SQLiteOpenMode;

/** The connection to a store, and the little in which the two kinds of database differ. */
final class Database implements AutoCloseable {
  /** How long a writer waits for another. */
  static final int PATIENCE_MILLIS = 30_000;

  /** The schema that the tables have to themselves in PostgreSQL, unless the URL names another. */
  private static final String SCHEMA = "steelyard";

  private static final String POSTGRESQL = "jdbc:postgresql:";

  /** Reads a row of a result. */
  @FunctionalInterface
  interface Row<T> {
    T read(ResultSet row) throws SQLException;
  }

  /** Work that is done as a whole or not at all. */
  @FunctionalInterface
  interface Work<T> {
    T run() throws SQLException;
  }

  private final String place;
  private final Optional<Path> file;
  private final DataSource source;
  private final Connection connection;

  private Database(String place, Optional<Path> file, DataSource source) throws SQLException {
    this.place = place;
    this.file = file;
    this.source = source;
    this.connection = source.getConnection();
  }

  static boolean isUrl(String place) {
    return place.startsWith("jdbc:");
  }

  /**
   * Connects to a PostgreSQL server.
   *
   * @param url {@code jdbc:postgresql:…}
   */
  static Database postgresql(String url) {
    // A password may be among the parameters, and messages end up in logs.
    String place = url.split("\\?", 2)[0];
    if (!url.startsWith(POSTGRESQL)) {
      throw new HistoryException(
          "there is no history at '%s': give a folder or a URL that begins with %s"
              .formatted(place, POSTGRESQL));
    }
    PGSimpleDataSource source = new PGSimpleDataSource();
    try {
      source.setURL(url);
    } catch (IllegalArgumentException e) {
      throw new HistoryException(
          "'%s' is no URL of a PostgreSQL database: write it as %s//host:port/database?user=…"
              .formatted(place, POSTGRESQL),
          e);
    }
    if (source.getCurrentSchema() == null) {
      source.setCurrentSchema(SCHEMA);
    }
    source.setReWriteBatchedInserts(true);
    source.setApplicationName("steelyard");
    return connect(place, Optional.empty(), source);
  }

  /** Opens a file, creating it where there is none; a file that can't be written can be read. */
  static Database sqlite(Path file) {
    return sqlite(file, Files.exists(file) && !Files.isWritable(file));
  }

  static Database sqlite(Path file, boolean readOnly) {
    SQLiteConfig config = new SQLiteConfig();
    config.setBusyTimeout(PATIENCE_MILLIS);
    config.enforceForeignKeys(true);
    // A transaction that first reads and then writes can't be made to wait: it fails at once.
    config.setTransactionMode(SQLiteConfig.TransactionMode.IMMEDIATE);
    String parameters = "";
    if (readOnly) {
      config.setReadOnly(true);
      config.resetOpenMode(SQLiteOpenMode.CREATE);
      // Without a log beside it nobody writes to it, and readers need make no files there.
      parameters = Files.exists(Path.of(file + "-wal")) ? "" : "?immutable=1";
    }
    SQLiteDataSource source = new SQLiteDataSource(config);
    source.setUrl("jdbc:sqlite:file:" + file.toAbsolutePath().toUri().getRawPath() + parameters);
    return connect(file.toString(), Optional.of(file), source);
  }

  private static Database connect(String place, Optional<Path> file, DataSource source) {
    try {
      return new Database(place, file, source);
    } catch (SQLException e) {
      throw StoreFailure.of("open", place, e);
    }
  }

  /** Where it is, for messages: without a password. */
  String place() {
    return place;
  }

  /** The file of an SQLite database. */
  Optional<Path> file() {
    return file;
  }

  DataSource source() {
    return source;
  }

  Connection connection() {
    return connection;
  }

  /** The schema that the tables are in. */
  Optional<String> schema() {
    return source instanceof PGSimpleDataSource postgresql
        ? Optional.of(postgresql.getCurrentSchema())
        : Optional.empty();
  }

  /** All rows of a query. */
  <T> List<T> query(String sql, Row<T> reader, Object... arguments) {
    try (PreparedStatement statement = prepare(sql, arguments);
        ResultSet rows = statement.executeQuery()) {
      List<T> read = new ArrayList<>();
      while (rows.next()) {
        read.add(reader.read(rows));
      }
      return read;
    } catch (SQLException e) {
      throw StoreFailure.of("read", place, e);
    }
  }

  /** The rows of a statement within a transaction, whose failures it leaves to that. */
  <T> List<T> within(String sql, Row<T> reader, Object... arguments) throws SQLException {
    try (PreparedStatement statement = prepare(sql, arguments);
        ResultSet rows = statement.executeQuery()) {
      List<T> read = new ArrayList<>();
      while (rows.next()) {
        read.add(reader.read(rows));
      }
      return read;
    }
  }

  /** Changes rows within a transaction; returns how many. */
  int update(String sql, Object... arguments) throws SQLException {
    try (PreparedStatement statement = prepare(sql, arguments)) {
      return statement.executeUpdate();
    }
  }

  private PreparedStatement prepare(String sql, Object... arguments) throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    try {
      bind(statement, arguments);
      return statement;
    } catch (SQLException e) {
      statement.close();
      throw e;
    }
  }

  static void bind(PreparedStatement statement, Object... arguments) throws SQLException {
    for (int i = 0; i < arguments.length; i++) {
      statement.setObject(i + 1, arguments[i]);
    }
  }

  /**
   * Does work in one transaction.
   *
   * @throws HistoryException if it can't be done; then nothing of it was
   */
  <T> T transaction(Work<T> work) {
    try {
      connection.setAutoCommit(false);
      T result = work.run();
      // Commits: the driver's commit would go on to begin another transaction, and wait for it.
      connection.setAutoCommit(true);
      return result;
    } catch (SQLException e) {
      rollBack(e);
      throw StoreFailure.of("write", place, e);
    } catch (RuntimeException e) {
      rollBack(e);
      throw e;
    }
  }

  /** What fails here is no news: a full disk or a lost connection has rolled back by itself. */
  private void rollBack(Exception why) {
    try (Statement statement = connection.createStatement()) {
      if (file.isPresent()) {
        statement.execute("ROLLBACK");
      } else {
        connection.rollback();
      }
    } catch (SQLException e) {
      why.addSuppressed(e);
    }
    try {
      connection.setAutoCommit(true);
    } catch (SQLException e) {
      why.addSuppressed(e);
    }
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (SQLException e) {
      throw StoreFailure.of("close", place, e);
    }
  }
}
