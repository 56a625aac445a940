package io.steelyard.history;

import io.steelyard.lab.RunException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/**
 * All runs that were kept: the file {@value #FILE} of a folder, or a PostgreSQL database that many
 * machines share. Several processes may have a store open, and write to it, at once. One object is
 * for one thread.
 *
 * <p>A run is written as a whole or not at all, whatever happens meanwhile.
 */
public final class HistoryStore implements AutoCloseable {
  /** The SQLite database in the folder of a history. */
  public static final String FILE = "history.db";

  /** What came of adding a run. */
  public enum Outcome {
    ADDED,
    /** An earlier state of the same run was there: it was resumed since. */
    REPLACED,
    /** The same was there, or a later state of it. */
    ALREADY_THERE
  }

  private final Database database;
  private final Queries queries;

  private HistoryStore(Database database) {
    this.database = database;
    this.queries = new Queries(database);
  }

  /**
   * Opens a history, making it where there is none.
   *
   * @param place a folder, or {@code jdbc:postgresql:…}
   * @throws HistoryException if it can't be opened, is none, or was written by a newer version
   */
  public static HistoryStore open(String place) {
    return Database.isUrl(place) ? prepared(Database.postgresql(place)) : open(Path.of(place));
  }

  /**
   * Opens the history of a folder, making it where there is none.
   *
   * @throws HistoryException if it can't be opened, is none, or was written by a newer version
   */
  public static HistoryStore open(Path folder) {
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new HistoryException(
          "can't make the folder %s (%s): choose another place"
              .formatted(folder, RunException.reason(e)),
          e);
    }
    return prepared(Database.sqlite(folder.resolve(FILE)));
  }

  /** A store over this database, which is closed where it is none. */
  static HistoryStore prepared(Database database) {
    try {
      Schema.prepare(database);
      return new HistoryStore(database);
    } catch (HistoryException e) {
      database.close();
      throw e;
    }
  }

  /** Where it is: a file, or a URL without its parameters. */
  public String place() {
    return database.place();
  }

  /**
   * Adds a finished run. The same run may be added again: nothing is kept twice.
   *
   * @param directory the run's directory
   * @throws HistoryException if it is no finished run, or the store can't be written; then nothing
   *     of it was
   */
  public Outcome add(Path directory) {
    return add(RunReader.read(directory));
  }

  /**
   * Adds a run.
   *
   * @throws HistoryException if the store can't be written; then nothing of the run was
   */
  public Outcome add(RunRecord run) {
    RunWriter writer = new RunWriter(database);
    try {
      return database.transaction(() -> writer.write(run));
    } catch (HistoryException e) {
      if (e.getCause() instanceof SQLException sql && StoreFailure.isDuplicate(sql)) {
        // Another process has added the same run meanwhile; now it can be seen.
        return database.transaction(() -> writer.write(run));
      }
      throw e;
    }
  }

  /** The runs that are wanted, the newest first. */
  public List<StoredRun> list(RunFilter filter) {
    return queries.list(filter);
  }

  /**
   * The one run that is meant.
   *
   * @param run its number or its name
   * @throws HistoryException if there is none, or several have this name
   */
  public StoredRun find(String run) {
    List<StoredRun> found = queries.find(run);
    if (found.isEmpty()) {
      throw new HistoryException(
          "there is no run '%s' in %s: './steelyard history list' shows those that are"
              .formatted(run, place()));
    }
    if (found.size() > 1) {
      throw new HistoryException(
          "%d runs in %s are called '%s': name the one you mean by its number, %s"
              .formatted(
                  found.size(),
                  place(),
                  run,
                  found.stream()
                      .map(StoredRun::number)
                      .sorted(Comparator.naturalOrder())
                      .map(String::valueOf)
                      .collect(Collectors.joining(", "))));
    }
    return found.getFirst();
  }

  /** A run with its figures. */
  public RunContents show(StoredRun run) {
    return queries.contents(run);
  }

  /**
   * The timed calls of a cell, in order.
   *
   * @param cell its number
   */
  public List<TimedValue> values(long cell) {
    return queries.values(cell);
  }

  /**
   * Follows a metric over time, on equal hardware only.
   *
   * @throws HistoryException if no run fits, or none that fits says what hardware it was made on
   */
  public Trend trend(TrendQuery query) {
    return queries.trend(query);
  }

  /**
   * Compares two runs cell by cell.
   *
   * @param margin the change that matters, such as 0.02
   */
  public RunComparison compare(StoredRun subject, StoredRun baseline, double margin) {
    return new RunComparer(queries).compare(subject, baseline, margin);
  }

  /** The runs that a rule would remove, the oldest first. */
  public List<StoredRun> prunable(PruneRule rule) {
    List<StoredRun> newestFirst = list(RunFilter.all());
    List<StoredRun> pruned =
        switch (rule) {
          case PruneRule.Before before ->
              newestFirst.stream().filter(run -> run.started().isBefore(before.time())).toList();
          case PruneRule.KeepNewest keep ->
              newestFirst.subList(Math.min(keep.runs(), newestFirst.size()), newestFirst.size());
        };
    return pruned.reversed();
  }

  /**
   * Removes runs with all that is kept of them, and gives their room back. Their directories stay.
   *
   * @return how many there were
   */
  public int remove(Collection<StoredRun> runs) {
    List<Long> numbers = runs.stream().map(StoredRun::number).toList();
    int removed =
        database.transaction(
            () -> {
              int count = 0;
              for (long number : numbers) {
                count += database.update("DELETE FROM runs WHERE id = ?", number);
              }
              database.update(
                  "DELETE FROM hardware WHERE id NOT IN"
                      + " (SELECT hardware FROM runs WHERE hardware IS NOT NULL)");
              return count;
            });
    if (removed > 0 && database.file().isPresent()) {
      shrink();
    }
    return removed;
  }

  private void shrink() {
    try (Statement statement = database.connection().createStatement()) {
      statement.execute("VACUUM");
    } catch (SQLException e) {
      throw StoreFailure.of("shrink", place(), e);
    }
  }

  @Override
  public void close() {
    database.close();
  }
}
