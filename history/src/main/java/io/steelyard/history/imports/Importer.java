package io.steelyard.history.imports;

import io.steelyard.history.HistoryException;
import io.steelyard.history.RunRecord;
import java.nio.file.Path;
import java.util.List;

/** Reads one format of one tool. */
public interface Importer {
  /** The name by which a person asks for it: {@code llama-bench-json}. */
  String name();

  /**
   * Reads a file as a whole.
   *
   * @return its runs, at least one; most formats have one a file
   * @throws HistoryException if it isn't of this format, or holds what no measurement yields; it
   *     names the file and the place in it
   */
  List<RunRecord> read(Path file);
}
