package io.steelyard.history.imports;

import io.steelyard.history.HistoryException;
import io.steelyard.history.MeasuredCell;
import io.steelyard.history.RunRecord;
import io.steelyard.history.imports.Imported.Figures;
import io.steelyard.history.imports.Imported.Measure;
import io.steelyard.history.imports.Imported.Subject;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Makes a run of llama-bench's rows, and of those that {@code steelyard bench -o} writes with the
 * same names. The fields are described in llama.cpp's tools/llama-bench.
 */
final class LlamaBenchRun {
  static final String SOURCE = "llama-bench";

  /** What a type of weights is called at the end of llama.cpp's model description. */
  private static final Pattern PRECISION =
      Pattern.compile(
          "\\b((?:IQ|Q|TQ)\\d\\w*(?: - (?:Small|Medium|Large|XS|XXS))?|BF16|F16|F32|MXFP4\\w*)");

  /** Settings that tell two tests apart, with the value that goes without saying. */
  private static final Map<String, String> SETTINGS = new LinkedHashMap<>();

  static {
    SETTINGS.put("backends", "CPU");
    SETTINGS.put("n_threads", "");
    SETTINGS.put("n_gpu_layers", "-1 0 99");
    SETTINGS.put("n_batch", "2048");
    SETTINGS.put("n_ubatch", "512");
    SETTINGS.put("type_k", "f16");
    SETTINGS.put("type_v", "f16");
    SETTINGS.put("flash_attn", "-1 0 false auto");
    SETTINGS.put("split_mode", "layer none");
  }

  private LlamaBenchRun() {}

  static RunRecord of(Path file, byte[] bytes, List<LlamaBenchRow> rows) {
    if (rows.isEmpty()) {
      throw new HistoryException(file + " holds no test of llama-bench");
    }
    List<MeasuredCell> cells = new ArrayList<>();
    List<Object> tests = new ArrayList<>();
    List<Instant> times = new ArrayList<>();
    for (LlamaBenchRow row : rows) {
      cells.add(cell(row));
      tests.add(row.fields());
      row.text("test_time").ifPresent(text -> times.add(time(row, text)));
    }
    Map<String, Object> environment = new LinkedHashMap<>();
    environment.put("tests", tests);
    List<String> weights =
        rows.stream().map(row -> row.textOr("weights", "unknown")).distinct().toList();
    List<String> commits =
        rows.stream().map(row -> row.textOr("build_commit", "")).distinct().toList();
    return Imported.run(
        file,
        bytes,
        0,
        SOURCE,
        times.stream().min(Comparator.naturalOrder()),
        "",
        weights.size() == 1 ? weights.getFirst() : "unknown",
        new RunRecord.Commit(commits.size() == 1 ? commits.getFirst() : "", Optional.empty()),
        environment,
        cells);
  }

  private static MeasuredCell cell(LlamaBenchRow row) {
    String label = row.text("label").orElseGet(() -> label(row));
    String filename = row.textOr("model_filename", "");
    String type = row.textOr("model_type", "");
    String model =
        filename.substring(Math.max(filename.lastIndexOf('/'), filename.lastIndexOf('\\')) + 1);
    Matcher precision = PRECISION.matcher(type);
    Subject subject =
        new Subject(
            label,
            label.split(":", 2)[0],
            model.isEmpty() ? type : model,
            precision.find() ? precision.group() : "");
    // Steelyard writes figures that are no throughput with names of their own.
    boolean throughput = !row.has("avg");
    double mean = row.required(throughput ? "avg_ts" : "avg");
    Optional<Double> deviation =
        row.amount(throughput ? "stddev_ts" : "stddev").stream().boxed().findFirst();
    Measure measure =
        throughput
            ? new Measure(row.text("test").orElseGet(() -> test(row)), "tok/s", Imported.HIGHER)
            : new Measure(
                row.textOr("test", ""),
                row.textOr("unit", ""),
                row.textOr("better", Imported.UNKNOWN));
    if (measure.metric().isEmpty()) {
      throw new HistoryException(row.place() + ": it has no 'test'");
    }
    if (throughput) {
      row.amount("avg_ns");
      row.amount("stddev_ns");
    }
    return Imported.cell(
        subject,
        measure,
        Imported.trials(row.samples()),
        Figures.of(mean, deviation.orElse(null)),
        Imported.STEADY);
  }

  /** {@code pp512}, {@code tg128@d4096}, {@code pp512+tg128}. */
  private static String test(LlamaBenchRow row) {
    long prompt = row.count("n_prompt");
    long generate = row.count("n_gen");
    long depth = row.count("n_depth");
    if (prompt == 0 && generate == 0) {
      throw new HistoryException(
          row.place() + ": a test of 0 prompt and 0 generated tokens measures nothing");
    }
    String test =
        (prompt > 0 ? "pp" + prompt : "")
            + (prompt > 0 && generate > 0 ? "+" : "")
            + (generate > 0 ? "tg" + generate : "");
    return test + (depth > 0 ? "@d" + depth : "");
  }

  private static String label(LlamaBenchRow row) {
    List<String> settings = new ArrayList<>();
    SETTINGS.forEach(
        (name, usual) ->
            row.text(name)
                .filter(value -> !List.of(usual.split(" ")).contains(value))
                .ifPresent(
                    value ->
                        settings.add(
                            (name.startsWith("n_") ? name.substring(2) : name) + "=" + value)));
    return settings.isEmpty() ? "llamacpp" : "llamacpp:" + String.join(",", settings);
  }

  private static Instant time(LlamaBenchRow row, String text) {
    try {
      return Instant.parse(text);
    } catch (DateTimeException e) {
      throw new HistoryException("%s, test_time: '%s' is no time".formatted(row.place(), text), e);
    }
  }
}
