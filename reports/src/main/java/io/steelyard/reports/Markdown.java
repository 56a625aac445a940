package io.steelyard.reports;

import java.util.List;
import java.util.stream.Collectors;

/** Text for Markdown (CommonMark with tables), in which no name can break the layout. */
final class Markdown {

  private Markdown() {}

  /** Text as it is for a table's cell, in one line, its bars escaped. */
  static String cell(String text) {
    return text.strip().replaceAll("\\s*\\R\\s*", " ").replace("\\", "\\\\").replace("|", "\\|");
  }

  /**
   * Prose, in one line, in which signs that mean something to Markdown are shown as they are; also
   * for a table's cell. Signs that mean nothing where they stand are left alone: the source is to
   * be read too.
   */
  static String text(String text) {
    return text.strip()
        .replaceAll("\\s*\\R\\s*", " ")
        .replaceAll("[\\\\`*<>|]", "\\\\$0")
        .replaceAll("(?<![\\p{L}\\p{N}])_|_(?![\\p{L}\\p{N}])", "\\\\_")
        .replaceAll("\\](?=[(\\[:])", "\\\\]")
        .replaceAll("^(?=[#+-])", "\\\\");
  }

  /** A code span that may hold backticks. */
  static String code(String text) {
    String fence = "`";
    while (text.contains(fence)) {
      fence += "`";
    }
    String pad = text.startsWith("`") || text.endsWith("`") ? " " : "";
    return fence + pad + text + pad + fence;
  }

  /** A fenced block of code in a language. */
  static String block(String language, String text) {
    String fence = "```";
    while (text.contains(fence)) {
      fence += "`";
    }
    return fence + language + "\n" + text.stripTrailing() + "\n" + fence + "\n";
  }

  /**
   * A table.
   *
   * @param right for each column, whether it is aligned at the right
   * @throws IllegalArgumentException if a row, or {@code right}, is not as long as the headers:
   *     readers of Markdown would see no table in it
   */
  static String table(List<String> headers, List<Boolean> right, List<List<String>> rows) {
    if (right.size() != headers.size()
        || rows.stream().anyMatch(row -> row.size() != headers.size())) {
      throw new IllegalArgumentException(
          "a table of %d headers with %d alignments, or with a row of another length"
              .formatted(headers.size(), right.size()));
    }
    StringBuilder out = new StringBuilder();
    out.append(row(headers));
    out.append(
        right.stream()
            .map(isRight -> isRight ? "---:" : "---")
            .collect(Collectors.joining(" | ", "| ", " |\n")));
    rows.forEach(cells -> out.append(row(cells)));
    return out.toString();
  }

  private static String row(List<String> cells) {
    return cells.stream().collect(Collectors.joining(" | ", "| ", " |\n"));
  }
}
