package io.steelyard.reports;

import java.util.List;

/**
 * A further table of {@code report.md}: what a figure consists of, a column a label.
 *
 * @param title its heading
 * @param headers the first one over the names of the rows
 * @param rows as many cells each as there are headers
 * @param explanation what the rows mean, in sentences
 */
public record DetailTable(
    String title, List<String> headers, List<List<String>> rows, String explanation) {
  public DetailTable {
    headers = List.copyOf(headers);
    rows = rows.stream().map(List::copyOf).toList();
    for (List<String> row : rows) {
      if (row.size() != headers.size()) {
        throw new IllegalArgumentException(
            "a row of " + row.size() + " cells under " + headers.size() + " headers");
      }
    }
  }
}
