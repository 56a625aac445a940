package io.steelyard.history;

import java.sql.SQLException;
import org.sqlite.SQLiteException;

/** What a database's refusal means, and what a person can do about it. */
final class StoreFailure {
  private static final String UNIQUE_VIOLATION = "23505";

  private StoreFailure() {}

  /**
   * The sentence for a failure.
   *
   * @param verb what could not be done to the store: {@code open}, {@code read}, {@code write}
   */
  static HistoryException of(String verb, String place, SQLException e) {
    String sentence =
        e instanceof SQLiteException sqlite
            ? ofSqlite(verb, place, sqlite)
            : ofPostgresql(verb, place, e);
    return new HistoryException(sentence, e);
  }

  /** Whether another writer has just added the same row. */
  static boolean isDuplicate(SQLException e) {
    return UNIQUE_VIOLATION.equals(e.getSQLState());
  }

  private static String ofSqlite(String verb, String place, SQLiteException e) {
    // The upper bytes say more, in ways that need no other answer.
    int code = e.getResultCode().code & 0xff;
    return switch (code) {
      case 13 -> full(place);
      case 8 -> readOnly(place);
      case 5, 6 ->
          "can't %s %s: another process has kept it for over %d s; wait until that has ended"
              .formatted(verb, place, Database.PATIENCE_MILLIS / 1000);
      case 14 ->
          "can't open %s: something else is in its place, or there is no permission; choose another place"
              .formatted(place);
      case 26 ->
          "%s is no history: the file is not a database; move it away or choose another place"
              .formatted(place);
      case 11 ->
          "%s is damaged; move it away, and add the runs again from their directories"
              .formatted(place);
      case 10 ->
          "can't %s %s: the disk failed or is full (%s); what was in it before stays"
              .formatted(verb, place, e.getMessage());
      default -> other(verb, place, e);
    };
  }

  private static String ofPostgresql(String verb, String place, SQLException e) {
    String state = String.valueOf(e.getSQLState());
    return switch (state) {
      case "53100" -> full(place);
      case "25006", "42501" -> readOnly(place);
      case "3D000" ->
          "can't open %s: there is no such database; make it with 'createdb'".formatted(place);
      default ->
          state.startsWith("28")
              ? "can't open %s: the server refuses this user or password; give them in the URL as ?user=…&password=…"
                  .formatted(place)
              : state.startsWith("08")
                  ? "can't %s %s: no server answers there (%s); start it or correct the URL"
                      .formatted(verb, place, firstLine(e))
                  : other(verb, place, e);
    };
  }

  private static String full(String place) {
    return "can't write %s: the disk is full; make room there and add it again: nothing that was in it is lost"
        .formatted(place);
  }

  private static String readOnly(String place) {
    return "can't write %s: it may only be read; allow writing to it and to its folder, or choose another place"
        .formatted(place);
  }

  private static String other(String verb, String place, SQLException e) {
    return "can't %s %s: %s".formatted(verb, place, firstLine(e));
  }

  private static String firstLine(SQLException e) {
    return String.valueOf(e.getMessage()).lines().findFirst().orElse("no reason given");
  }
}
