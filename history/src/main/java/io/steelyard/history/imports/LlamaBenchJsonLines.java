package io.steelyard.history.imports;

import io.steelyard.history.RunRecord;
import java.nio.file.Path;
import java.util.List;

/** {@code llama-bench -o jsonl}: a test a line. */
final class LlamaBenchJsonLines implements Importer {
  @Override
  public String name() {
    return "llama-bench-jsonl";
  }

  @Override
  public List<RunRecord> read(Path file) {
    byte[] bytes = Bounds.bytes(file);
    List<LlamaBenchRow> rows =
        JsonPlace.sequence(file, bytes).stream().map(LlamaBenchRow::of).toList();
    return List.of(LlamaBenchRun.of(file, bytes, rows));
  }
}
