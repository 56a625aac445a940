package io.steelyard.history.imports;

import io.steelyard.history.HistoryException;
import io.steelyard.history.RunRecord;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * {@code llama-bench -o sql}: a {@code CREATE TABLE}, then an {@code INSERT} a test. The statements
 * are read, never run.
 */
final class LlamaBenchSql implements Importer {
  private static final int COLUMNS = 1_000;

  @Override
  public String name() {
    return "llama-bench-sql";
  }

  @Override
  public List<RunRecord> read(Path file) {
    byte[] bytes = Bounds.bytes(file);
    List<LlamaBenchRow> rows = new Script(file, Bounds.text(file, bytes)).rows();
    return List.of(LlamaBenchRun.of(file, bytes, rows));
  }

  /** A script, read from front to end. */
  private static final class Script {
    private final Path file;
    private final String text;
    private int position;
    private int line = 1;

    Script(Path file, String text) {
      this.file = file;
      this.text = text;
    }

    List<LlamaBenchRow> rows() {
      List<LlamaBenchRow> rows = new ArrayList<>();
      for (skipSpace(); position < text.length(); skipSpace()) {
        String place = file + " line " + line;
        String verb = word().toUpperCase(Locale.ROOT);
        switch (verb) {
          case "CREATE" -> skipStatement();
          case "INSERT" -> rows.add(insert(place));
          default -> throw refused("neither CREATE nor INSERT");
        }
        if (rows.size() > Bounds.CELLS) {
          throw new HistoryException(
              "%s holds more than %,d rows: split it".formatted(file, Bounds.CELLS));
        }
      }
      return rows;
    }

    private LlamaBenchRow insert(String place) {
      expectWord("INTO");
      word(); // the table's name, which has changed over time
      List<String> names = list();
      expectWord("VALUES");
      List<String> values = list();
      expect(';');
      if (names.size() != values.size()) {
        throw new HistoryException(
            "%s: %d names, but %d values".formatted(place, names.size(), values.size()));
      }
      Map<String, String> fields = new LinkedHashMap<>();
      for (int i = 0; i < names.size(); i++) {
        String value = Bounds.clean(place, values.get(i));
        if (fields.put(Bounds.clean(place, names.get(i)), value) != null) {
          throw new HistoryException(place + ": the name '" + names.get(i) + "' stands twice");
        }
      }
      return new LlamaBenchRow(place, fields, new double[0]);
    }

    private List<String> list() {
      expect('(');
      List<String> items = new ArrayList<>();
      while (true) {
        skipSpace();
        items.add(peek() == '\'' || peek() == '"' ? quoted(peek()) : word());
        if (items.size() > COLUMNS) {
          throw refused("more than %,d columns".formatted(COLUMNS));
        }
        skipSpace();
        if (peek() == ')') {
          position++;
          return items;
        }
        expect(',');
      }
    }

    /** A text in quotes; a quote in it is doubled. */
    private String quoted(char quote) {
      StringBuilder value = new StringBuilder();
      position++;
      while (true) {
        char c = next("a text in quotes");
        if (c == quote) {
          if (position < text.length() && text.charAt(position) == quote) {
            position++;
          } else {
            return value.toString();
          }
        }
        if (value.length() == Bounds.TEXT) {
          throw refused("a text of more than %,d characters".formatted(Bounds.TEXT));
        }
        value.append(c);
      }
    }

    private String word() {
      skipSpace();
      int start = position;
      while (position < text.length() && isWord(text.charAt(position))) {
        position++;
      }
      if (position == start) {
        throw position == text.length() ? cutOff("a statement") : refused("no name or number");
      }
      return text.substring(start, position);
    }

    private static boolean isWord(char c) {
      return Character.isLetterOrDigit(c) || c == '_' || c == '.' || c == '-' || c == '+';
    }

    private void skipStatement() {
      while (true) {
        skipSpace();
        char c = next("a statement");
        if (c == ';') {
          return;
        }
        if (c == '\'' || c == '"') {
          position--;
          quoted(c);
        }
      }
    }

    private void skipSpace() {
      while (position < text.length() && Character.isWhitespace(text.charAt(position))) {
        line += text.charAt(position) == '\n' ? 1 : 0;
        position++;
      }
    }

    private void expectWord(String wanted) {
      if (!word().equalsIgnoreCase(wanted)) {
        throw refused("no " + wanted + " where one is expected");
      }
    }

    private void expect(char wanted) {
      skipSpace();
      if (peek() != wanted) {
        throw refused("no '" + wanted + "' where one is expected");
      }
      position++;
    }

    private char peek() {
      if (position == text.length()) {
        throw cutOff("a statement");
      }
      return text.charAt(position);
    }

    private char next(String within) {
      if (position == text.length()) {
        throw cutOff(within);
      }
      char c = text.charAt(position++);
      line += c == '\n' ? 1 : 0;
      return c;
    }

    private HistoryException cutOff(String within) {
      return new HistoryException("%s line %d: it ends within %s".formatted(file, line, within));
    }

    private HistoryException refused(String why) {
      return new HistoryException(
          "%s line %d: it is no script of llama-bench: %s".formatted(file, line, why));
    }
  }
}
