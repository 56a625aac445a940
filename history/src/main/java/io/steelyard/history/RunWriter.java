package io.steelyard.history;

import io.steelyard.lab.record.Entry.Role;
import io.steelyard.lab.record.Summary;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Writes a run into the tables, within a transaction of the caller's. */
final class RunWriter {
  private static final int BATCH = 10_000;

  private final Database database;

  RunWriter(Database database) {
    this.database = database;
  }

  /** What is there of a run already. */
  private record Present(long id, String content, long extent) {}

  HistoryStore.Outcome write(RunRecord run) throws SQLException {
    Optional<Present> present =
        database
            .within(
                "SELECT id, content, extent FROM runs WHERE name = ? AND identity = ?",
                row -> new Present(row.getLong(1), row.getString(2), row.getLong(3)),
                run.name(),
                run.identity())
            .stream()
            .findFirst();
    if (present.isEmpty()) {
      insert(run, Optional.empty());
      return HistoryStore.Outcome.ADDED;
    }
    Present there = present.get();
    if (there.content.equals(run.content()) || there.extent > run.extent()) {
      return HistoryStore.Outcome.ALREADY_THERE;
    }
    database.update("DELETE FROM runs WHERE id = ?", there.id);
    insert(run, Optional.of(there.id));
    return HistoryStore.Outcome.REPLACED;
  }

  private void insert(RunRecord run, Optional<Long> id) throws SQLException {
    Map<String, Object> environment = new LinkedHashMap<>(run.environment());
    environment.remove(Hardware.PART);
    Optional<Hardware> hardware = Hardware.of(run.environment());
    String columns =
        "name, identity, content, extent, source, started, command, model, model_sha256, weights,"
            + " settings, git_commit, dirty, hardware, environment, cells, trials";
    Object[] values = {
      run.name(),
      run.identity(),
      run.content(),
      run.extent(),
      run.source(),
      run.started().toEpochMilli(),
      run.command(),
      run.model().name(),
      run.model().sha256(),
      run.model().weights(),
      run.settings(),
      run.commit().id(),
      run.commit().dirty().map(dirty -> dirty ? 1 : 0).orElse(null),
      hardware.isEmpty() ? null : idOf(hardware.get()),
      Text.json(environment),
      run.cells().size(),
      run.cells().stream().mapToInt(cell -> cell.values().size()).sum()
    };
    long runId =
        id.isEmpty() ? insert("runs", columns, values) : reinsert(id.get(), columns, values);
    int place = 0;
    for (MeasuredCell cell : run.cells()) {
      insert(runId, place++, cell);
    }
    place = 0;
    for (Summary.Comparison comparison : run.comparisons()) {
      insert(runId, place++, comparison);
    }
  }

  private long reinsert(long id, String columns, Object[] values) throws SQLException {
    List<Object> all = new ArrayList<>(Arrays.asList(values));
    all.addFirst(id);
    return insert("runs", "id, " + columns, all.toArray());
  }

  private long idOf(Hardware hardware) throws SQLException {
    database.update(
        "INSERT INTO hardware (fingerprint, processor, description) VALUES (?, ?, ?)"
            + " ON CONFLICT (fingerprint) DO NOTHING",
        hardware.fingerprint(),
        hardware.processor(),
        Text.json(hardware.description()));
    return database
        .within(
            "SELECT id FROM hardware WHERE fingerprint = ?",
            row -> row.getLong(1),
            hardware.fingerprint())
        .getFirst();
  }

  private void insert(long run, int place, MeasuredCell cell) throws SQLException {
    List<Object> values = new ArrayList<>(List.of(run, place));
    values.addAll(CellColumns.values(cell.figures()));
    long id = insert("cells", "run, place, " + CellColumns.NAMES, values.toArray());
    insert(id, cell.values());
  }

  private void insert(long cell, List<TimedValue> values) throws SQLException {
    try (PreparedStatement statement =
        database
            .connection()
            .prepareStatement(
                "INSERT INTO trials (cell, block, attempt, fork, role, number, counts, value)"
                    + " VALUES (?, ?, ?, ?, ?, ?, ?, ?)")) {
      int waiting = 0;
      for (TimedValue value : values) {
        statement.setLong(1, cell);
        statement.setInt(2, value.block());
        statement.setInt(3, value.attempt());
        statement.setInt(4, value.fork());
        statement.setInt(5, code(value.role()));
        statement.setInt(6, value.number());
        statement.setInt(7, value.counts() ? 1 : 0);
        statement.setDouble(8, value.value());
        statement.addBatch();
        if (++waiting == BATCH) {
          statement.executeBatch();
          waiting = 0;
        }
      }
      statement.executeBatch();
    }
  }

  private void insert(long run, int place, Summary.Comparison c) throws SQLException {
    database.update(
        "INSERT INTO comparisons (run, place, metric, subject, baseline, model, precision, ratio,"
            + " low, high, verdict, blocks, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        run,
        place,
        c.metric(),
        c.subject(),
        c.baseline(),
        c.model(),
        c.precision(),
        c.ratio(),
        c.low(),
        c.high(),
        c.verdict(),
        c.blocks(),
        c.note());
  }

  private long insert(String table, String columns, Object... values) throws SQLException {
    String marks = "?" + ", ?".repeat(values.length - 1);
    return database
        .within(
            "INSERT INTO %s (%s) VALUES (%s) RETURNING id".formatted(table, columns, marks),
            row -> row.getLong(1),
            values)
        .getFirst();
  }

  static int code(Role role) {
    return switch (role) {
      case FIRST -> 0;
      case WARM_UP -> 1;
      case TRIAL -> 2;
    };
  }

  static Role role(int code) {
    return switch (code) {
      case 0 -> Role.FIRST;
      case 1 -> Role.WARM_UP;
      default -> Role.TRIAL;
    };
  }
}
