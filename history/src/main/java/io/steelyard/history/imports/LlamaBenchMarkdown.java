package io.steelyard.history.imports;

import io.steelyard.history.HistoryException;
import io.steelyard.history.RunRecord;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * {@code llama-bench -o md}, its usual output: a table with a row a test, then {@code build: …}. It
 * has means and deviations to two decimals; the other formats say more.
 */
final class LlamaBenchMarkdown implements Importer {
  private static final Pattern RATE = Pattern.compile("(\\S{1,60})(?: ± (\\S{1,60}))?");
  private static final Pattern TEST =
      Pattern.compile("(pp|tg) ?(\\d{1,9})(?:\\+tg ?(\\d{1,9}))?(?: ?@ ?d(\\d{1,9}))?");
  private static final Pattern BUILD = Pattern.compile("build: (\\S{1,100})(?: \\(\\d{1,9}\\))?");
  private static final String RANDOM = " (random weights)";

  /** The table's names of fields. */
  private static final Map<String, String> FIELDS =
      Map.of(
          "model", "model_type",
          "backend", "backends",
          "threads", "n_threads",
          "ngl", "n_gpu_layers",
          "fa", "flash_attn",
          "sm", "split_mode",
          "engine", "label");

  @Override
  public String name() {
    return "llama-bench-md";
  }

  @Override
  public List<RunRecord> read(Path file) {
    byte[] bytes = Bounds.bytes(file);
    List<String> header = List.of();
    List<Map<String, String>> tests = new ArrayList<>();
    List<String> places = new ArrayList<>();
    String commit = "";
    int number = 0;
    for (String line : (Iterable<String>) Bounds.text(file, bytes).lines()::iterator) {
      String place = file + " line " + ++number;
      Matcher build = BUILD.matcher(line);
      if (build.matches()) {
        commit = build.group(1);
      } else if (line.startsWith("|")) {
        List<String> cells = cells(place, line);
        if (header.isEmpty()) {
          header = header(place, cells);
        } else if (!cells.stream().allMatch(cell -> cell.matches(":?-+ ?:?"))) {
          tests.add(fields(place, header, cells));
          places.add(place);
        }
        if (tests.size() > Bounds.CELLS) {
          throw new HistoryException(
              "%s holds more than %,d rows: split it".formatted(file, Bounds.CELLS));
        }
      }
    }
    List<LlamaBenchRow> rows = new ArrayList<>();
    for (int i = 0; i < tests.size(); i++) {
      tests.get(i).put("build_commit", commit);
      rows.add(new LlamaBenchRow(places.get(i), tests.get(i), new double[0]));
    }
    return List.of(LlamaBenchRun.of(file, bytes, rows));
  }

  private static List<String> cells(String place, String line) {
    String row = line.strip();
    if (row.length() > Bounds.TEXT) {
      throw new HistoryException(place + ": it is too long for a row of llama-bench");
    }
    if (row.length() < 2 || !row.endsWith("|")) {
      throw new HistoryException(place + ": the row has no end: perhaps it was cut off");
    }
    List<String> cells = new ArrayList<>();
    for (String cell : row.substring(1, row.length() - 1).split("(?<!\\\\)\\|", -1)) {
      cells.add(Bounds.clean(place, cell.replace("\\|", "|")));
    }
    return cells;
  }

  private static List<String> header(String place, List<String> cells) {
    if (!cells.containsAll(List.of("model", "test", "t/s"))) {
      throw new HistoryException(
          place + ": it is no table of llama-bench: that has the columns model, test and t/s");
    }
    return cells;
  }

  private static Map<String, String> fields(String place, List<String> header, List<String> cells) {
    if (cells.size() != header.size()) {
      throw new HistoryException(
          "%s: it has %d columns, the header has %d".formatted(place, cells.size(), header.size()));
    }
    Map<String, String> fields = new LinkedHashMap<>();
    for (int i = 0; i < cells.size(); i++) {
      String name = header.get(i);
      String value = cells.get(i);
      switch (name) {
        case "t/s" -> rate(place, value, fields);
        case "test" -> fields.put("test", test(place, value));
        case "model" -> {
          fields.put("model_type", value.replace(RANDOM, ""));
          if (value.endsWith(RANDOM)) {
            fields.put("weights", "random");
          }
        }
        default -> fields.put(FIELDS.getOrDefault(name, name), value);
      }
    }
    return fields;
  }

  private static void rate(String place, String value, Map<String, String> fields) {
    Matcher rate = RATE.matcher(value);
    if (!rate.matches()) {
      throw new HistoryException("%s: '%s' is no mean ± deviation".formatted(place, value));
    }
    fields.put("avg_ts", rate.group(1));
    Optional.ofNullable(rate.group(2)).ifPresent(sd -> fields.put("stddev_ts", sd));
  }

  /** {@code pp 512} and {@code tg128 @ d512} as {@code pp512} and {@code tg128@d512}. */
  private static String test(String place, String value) {
    Matcher test = TEST.matcher(value);
    if (!test.matches()) {
      throw new HistoryException("%s: '%s' is no test of llama-bench".formatted(place, value));
    }
    return test.group(1)
        + test.group(2)
        + (test.group(3) == null ? "" : "+tg" + test.group(3))
        + (test.group(4) == null ? "" : "@d" + test.group(4));
  }
}
