package io.steelyard.history.imports;

import io.steelyard.history.HistoryException;
import io.steelyard.history.RunRecord;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;
import org.apache.commons.csv.DuplicateHeaderMode;

/** {@code llama-bench -o csv}: a row of names, then a row a test. */
final class LlamaBenchCsv implements Importer {
  private static final CSVFormat FORMAT =
      CSVFormat.RFC4180
          .builder()
          .setHeader()
          .setSkipHeaderRecord(true)
          .setDuplicateHeaderMode(DuplicateHeaderMode.DISALLOW)
          .get();

  @Override
  public String name() {
    return "llama-bench-csv";
  }

  @Override
  public List<RunRecord> read(Path file) {
    byte[] bytes = Bounds.bytes(file);
    List<LlamaBenchRow> rows = new ArrayList<>();
    String text = Bounds.text(file, bytes);
    if (text.endsWith(",")) {
      throw new HistoryException(file + ": its last row has no end: perhaps it was cut off");
    }
    try (CSVParser parser = CSVParser.parse(text, FORMAT)) {
      for (CSVRecord line : parser) {
        String place = file + ", row " + line.getRecordNumber();
        if (!line.isConsistent()) {
          throw new HistoryException(
              "%s: it has %d columns, the header has %d: perhaps its end is missing"
                  .formatted(place, line.size(), parser.getHeaderNames().size()));
        }
        if (rows.size() == Bounds.CELLS) {
          throw new HistoryException(
              "%s holds more than %,d rows: split it".formatted(file, Bounds.CELLS));
        }
        Map<String, String> fields = new LinkedHashMap<>();
        line.toMap()
            .forEach(
                (name, value) -> fields.put(Bounds.clean(place, name), Bounds.clean(place, value)));
        rows.add(new LlamaBenchRow(place, fields, new double[0]));
      }
    } catch (IOException | UncheckedIOException | IllegalArgumentException e) {
      throw new HistoryException("%s is no whole CSV: %s".formatted(file, e.getMessage()), e);
    }
    return List.of(LlamaBenchRun.of(file, bytes, rows));
  }
}
