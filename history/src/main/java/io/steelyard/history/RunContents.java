package io.steelyard.history;

import io.steelyard.lab.record.Summary;
import java.util.List;
import java.util.Map;

/**
 * A run in a history with its figures.
 *
 * @param environment as in {@code environment.json}
 */
public record RunContents(
    StoredRun run,
    Map<String, Object> environment,
    List<Cell> cells,
    List<Summary.Comparison> comparisons) {

  /**
   * A cell.
   *
   * @param number names it in this history
   */
  public record Cell(long number, Summary.Cell figures) {}
}
