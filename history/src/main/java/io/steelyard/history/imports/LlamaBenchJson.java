package io.steelyard.history.imports;

import io.steelyard.history.RunRecord;
import java.nio.file.Path;
import java.util.List;

/** {@code llama-bench -o json}: an array of tests. */
final class LlamaBenchJson implements Importer {
  @Override
  public String name() {
    return "llama-bench-json";
  }

  @Override
  public List<RunRecord> read(Path file) {
    byte[] bytes = Bounds.bytes(file);
    List<LlamaBenchRow> rows =
        JsonPlace.parse(file, bytes).someElements(Bounds.CELLS).stream()
            .map(LlamaBenchRow::of)
            .toList();
    return List.of(LlamaBenchRun.of(file, bytes, rows));
  }
}
