package io.steelyard.history;

import io.steelyard.lab.record.Summary;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What is read from the tables. */
final class Queries {
  private static final String RUN =
      """
      SELECT r.id, r.name, r.source, r.started, r.command, r.model, r.model_sha256, r.weights,
             r.settings, r.git_commit, r.dirty, h.fingerprint, h.processor, r.cells, r.trials
      FROM runs r LEFT JOIN hardware h ON h.id = r.hardware
      """;

  private static final String VALUES =
      """
      FROM cells c JOIN runs r ON r.id = c.run LEFT JOIN hardware h ON h.id = r.hardware
      """;

  private final Database database;

  Queries(Database database) {
    this.database = database;
  }

  /** The conditions of a query with their arguments. */
  private static final class Conditions {
    private final List<String> texts = new ArrayList<>();
    private final List<Object> arguments = new ArrayList<>();

    void equal(String column, Optional<String> value) {
      value.ifPresent(
          wanted -> {
            texts.add(column + " = ?");
            arguments.add(wanted);
          });
    }

    String and(String fixed) {
      return texts.isEmpty() ? " WHERE " + fixed : where() + " AND " + fixed;
    }

    String where() {
      return texts.isEmpty() ? "" : " WHERE " + String.join(" AND ", texts);
    }
  }

  List<StoredRun> list(RunFilter filter) {
    Conditions conditions = new Conditions();
    conditions.equal("r.source", filter.source());
    conditions.equal("r.model", filter.model());
    conditions.arguments.add(filter.limit());
    return database.query(
        RUN + conditions.where() + " ORDER BY r.started DESC, r.id DESC LIMIT ?",
        Queries::run,
        conditions.arguments.toArray());
  }

  List<StoredRun> find(String run) {
    List<StoredRun> named =
        database.query(RUN + " WHERE r.name = ? ORDER BY r.started", Queries::run, run);
    return named.isEmpty() && run.matches("\\d{1,18}")
        ? database.query(RUN + " WHERE r.id = ?", Queries::run, Long.parseLong(run))
        : named;
  }

  RunContents contents(StoredRun run) {
    Map<String, Object> environment = new LinkedHashMap<>();
    database
        .query(
            "SELECT h.description FROM runs r JOIN hardware h ON h.id = r.hardware WHERE r.id = ?",
            row -> row.getString(1),
            run.number())
        .forEach(hardware -> environment.put(Hardware.PART, Text.map(hardware, database.place())));
    database
        .query("SELECT environment FROM runs WHERE id = ?", row -> row.getString(1), run.number())
        .forEach(rest -> environment.putAll(Text.map(rest, database.place())));
    return new RunContents(run, environment, cells(run), comparisons(run));
  }

  List<RunContents.Cell> cells(StoredRun run) {
    return database.query(
        "SELECT id, " + CellColumns.NAMES + " FROM cells WHERE run = ? ORDER BY place",
        row ->
            new RunContents.Cell(
                row.getLong(1),
                new Summary.Cell(
                    row.getString(2),
                    row.getString(3),
                    row.getString(4),
                    row.getString(5),
                    row.getString(6),
                    row.getString(7),
                    row.getString(8),
                    real(row, 9),
                    real(row, 10),
                    real(row, 11),
                    real(row, 12),
                    real(row, 13),
                    real(row, 14),
                    real(row, 15),
                    row.getInt(16),
                    row.getInt(17),
                    row.getString(18),
                    row.getInt(19),
                    real(row, 20))),
        run.number());
  }

  private List<Summary.Comparison> comparisons(StoredRun run) {
    return database.query(
        """
        SELECT metric, subject, baseline, model, precision, ratio, low, high, verdict, blocks, note
        FROM comparisons WHERE run = ? ORDER BY place
        """,
        row ->
            new Summary.Comparison(
                row.getString(1),
                row.getString(2),
                row.getString(3),
                row.getString(4),
                row.getString(5),
                real(row, 6),
                real(row, 7),
                real(row, 8),
                row.getString(9),
                row.getInt(10),
                row.getString(11)),
        run.number());
  }

  List<TimedValue> values(long cell) {
    return database.query(
        """
        SELECT block, attempt, fork, role, number, counts, value FROM trials WHERE cell = ?
        ORDER BY block, attempt, fork, role, number
        """,
        row ->
            new TimedValue(
                row.getInt(1),
                row.getInt(2),
                row.getInt(3),
                RunWriter.role(row.getInt(4)),
                row.getInt(5),
                row.getInt(6) != 0,
                row.getDouble(7)),
        cell);
  }

  Trend trend(TrendQuery query) {
    Conditions fitting = new Conditions();
    fitting.equal("c.metric", Optional.of(query.metric()));
    fitting.equal("c.label", query.label());
    fitting.equal("c.engine", query.engine());
    fitting.equal("c.model", query.model());
    int all = count(fitting);
    if (all == 0) {
      throw new HistoryException(
          "no run in %s has such a value of '%s': './steelyard history list' shows the runs, './steelyard history show RUN' a run's metrics"
              .formatted(database.place(), query.metric()));
    }
    fitting.equal("h.fingerprint", query.hardware());
    Trend.Series series = newest(fitting, query, all);
    Conditions equal = new Conditions();
    equal.equal("c.metric", Optional.of(series.metric()));
    equal.equal("c.label", Optional.of(series.label()));
    equal.equal("c.unit", Optional.of(series.unit()));
    equal.equal("c.better", Optional.of(series.better()));
    equal.equal("c.engine", Optional.of(series.engine()));
    equal.equal("c.model", Optional.of(series.model()));
    equal.equal("c.precision", Optional.of(series.precision()));
    equal.equal("r.model_sha256", Optional.of(series.modelSha256()));
    equal.equal("r.settings", Optional.of(series.settings()));
    equal.equal("h.fingerprint", Optional.of(series.hardware()));
    List<Trend.Point> points =
        database.query(
            """
            SELECT r.id, r.name, r.started, r.git_commit, r.dirty, c.mean, c.low, c.high, c.forks,
                   c.trials, c.state
            """
                + VALUES
                + equal.and("c.mean IS NOT NULL")
                + " ORDER BY r.started, r.id, c.place",
            Queries::point,
            equal.arguments.toArray());
    return new Trend(series, points, all - points.size());
  }

  private int count(Conditions conditions) {
    return database
        .query(
            "SELECT COUNT(*) " + VALUES + conditions.and("c.mean IS NOT NULL"),
            row -> row.getInt(1),
            conditions.arguments.toArray())
        .getFirst();
  }

  /** What the newest value belongs to, of those whose hardware is known. */
  private Trend.Series newest(Conditions conditions, TrendQuery query, int all) {
    return database
        .query(
            """
            SELECT c.metric, c.unit, c.better, c.label, c.engine, c.model, r.model_sha256,
                   c.precision, r.settings, h.fingerprint, h.processor
            """
                + VALUES
                + conditions.and("c.mean IS NOT NULL AND h.id IS NOT NULL")
                + " ORDER BY r.started DESC, r.id DESC, c.place DESC LIMIT 1",
            Queries::series,
            conditions.arguments.toArray())
        .stream()
        .findFirst()
        .orElseThrow(
            () ->
                new HistoryException(
                    "%s has %d values of '%s', but none is known to be made on %s: only equal hardware is compared"
                        .formatted(
                            database.place(),
                            all,
                            query.metric(),
                            query
                                .hardware()
                                .map(name -> "hardware " + name)
                                .orElse("any named hardware"))));
  }

  private static Trend.Series series(ResultSet row) throws SQLException {
    return new Trend.Series(
        row.getString(1),
        row.getString(2),
        row.getString(3),
        row.getString(4),
        row.getString(5),
        row.getString(6),
        row.getString(7),
        row.getString(8),
        row.getString(9),
        row.getString(10),
        row.getString(11));
  }

  private static Trend.Point point(ResultSet row) throws SQLException {
    return new Trend.Point(
        row.getLong(1),
        row.getString(2),
        Instant.ofEpochMilli(row.getLong(3)),
        commit(row, 4),
        row.getDouble(6),
        real(row, 7),
        real(row, 8),
        row.getInt(9),
        row.getInt(10),
        row.getString(11));
  }

  private static StoredRun run(ResultSet row) throws SQLException {
    return new StoredRun(
        row.getLong(1),
        row.getString(2),
        row.getString(3),
        Instant.ofEpochMilli(row.getLong(4)),
        row.getString(5),
        new RunRecord.Model(row.getString(6), row.getString(7), row.getString(8)),
        row.getString(9),
        commit(row, 10),
        Optional.ofNullable(row.getString(12)),
        orEmpty(row.getString(13)),
        row.getInt(14),
        row.getInt(15));
  }

  /** A commit, and in the next column whether it was dirty. */
  private static RunRecord.Commit commit(ResultSet row, int column) throws SQLException {
    int dirty = row.getInt(column + 1);
    return new RunRecord.Commit(
        row.getString(column), row.wasNull() ? Optional.empty() : Optional.of(dirty != 0));
  }

  private static Double real(ResultSet row, int column) throws SQLException {
    double value = row.getDouble(column);
    return row.wasNull() ? null : value;
  }

  private static String orEmpty(String text) {
    return text == null ? "" : text;
  }
}
