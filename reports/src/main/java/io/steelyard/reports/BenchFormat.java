package io.steelyard.reports;

import io.steelyard.lab.record.Summary;
import io.steelyard.reports.terminal.DisplayWidth;
import io.steelyard.reports.terminal.Format;
import io.steelyard.stats.Interval;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The formats of {@code bench -o}. Columns and field names are those of llama-bench
 * (ggml-org/llama.cpp, tools/llama-bench), so that scripts made for it read them too; what
 * Steelyard knows beyond them stands behind them: {@code label}, {@code test}, {@code weights},
 * {@code avg_ts_low}, {@code avg_ts_high}, {@code avg_ts_roofline}.
 *
 * <p>As there, {@code avg} and {@code stddev} are over trials; the interval is over forks.
 */
public enum BenchFormat {
  MD,
  JSON,
  JSONL,
  CSV;

  private static final JsonMapper COMPACT = JsonMapper.builder().build();
  private static final JsonMapper INDENTED =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  /** The rows in this format, ended by a newline. */
  public String render(List<BenchRow> rows) {
    return switch (this) {
      case MD -> markdown(rows);
      case CSV -> csv(rows.stream().map(BenchFormat::fields).toList());
      case JSON, JSONL -> json(rows.stream().map(BenchFormat::object).toList());
    };
  }

  /**
   * Figures that are no throughput, in this format, ended by a newline: {@code avg}, {@code stddev}
   * and the interval {@code avg_low}, {@code avg_high} in {@code unit}.
   */
  public String renderFigures(List<BenchFigure> figures) {
    return switch (this) {
      case MD -> figuresAsMarkdown(figures);
      case CSV -> csv(figures.stream().map(BenchFormat::fields).toList());
      case JSON, JSONL -> json(figures.stream().map(BenchFormat::object).toList());
    };
  }

  private String json(List<Map<String, Object>> objects) {
    return this == JSON
        ? INDENTED.writeValueAsString(objects) + "\n"
        : objects.stream()
            .map(object -> COMPACT.writeValueAsString(object) + "\n")
            .collect(Collectors.joining());
  }

  private static Map<String, Object> fields(BenchFigure figure) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("build_commit", figure.buildCommit());
    fields.put("cpu_info", figure.cpuInfo());
    fields.put("backends", "CPU");
    fields.put("model_filename", figure.modelFilename());
    fields.put("model_type", figure.modelType());
    fields.put("model_size", figure.modelSize());
    fields.put("model_n_params", figure.modelParameters());
    fields.put("n_threads", figure.threads());
    fields.put("test_time", time(figure.testTime()));
    fields.put("label", figure.cell().label());
    fields.put("test", figure.cell().metric());
    fields.put("weights", figure.randomWeights() ? "random" : "real");
    fields.put("state", figure.cell().state());
    fields.put("unit", figure.cell().unit());
    fields.put("better", figure.cell().better());
    fields.put("avg", figure.cell().mean());
    fields.put("stddev", deviation(figure.samples()));
    fields.put("avg_low", figure.cell().low());
    fields.put("avg_high", figure.cell().high());
    return fields;
  }

  private static Map<String, Object> object(BenchFigure figure) {
    Map<String, Object> object = fields(figure);
    object.put("samples", figure.samples());
    return object;
  }

  private static String time(Instant instant) {
    return DateTimeFormatter.ISO_INSTANT.format(instant.truncatedTo(ChronoUnit.SECONDS));
  }

  private static String figuresAsMarkdown(List<BenchFigure> figures) {
    List<String> headers =
        List.of("model", "size", "params", "engine", "threads", "test", "value", "forks");
    List<List<String>> lines = new ArrayList<>();
    for (BenchFigure figure : figures) {
      Summary.Cell cell = figure.cell();
      String value =
          Figure.plusMinus(cell.mean(), cell.low(), cell.high()).text("") + " " + cell.unit();
      lines.add(
          List.of(
              figure.modelType() + (figure.randomWeights() ? " (random weights)" : ""),
              size(figure.modelSize()),
              parameters(figure.modelParameters()),
              cell.label(),
              String.valueOf(figure.threads()),
              cell.metric(),
              value,
              String.valueOf(cell.forks())));
    }
    StringBuilder out = new StringBuilder(markdown(headers, lines));
    out.append("\nvalue: mean with its 95 % interval over forks; less is better\n");
    footer(
        out,
        figures.stream().anyMatch(BenchFigure::randomWeights),
        figures.stream().map(BenchFigure::buildCommit));
    return out.toString();
  }

  private static void footer(StringBuilder out, boolean random, Stream<String> commits) {
    if (random) {
      out.append(ComparisonTable.RANDOM_WEIGHTS.substring(2)).append('\n');
    }
    commits.distinct().forEach(commit -> out.append("build: ").append(commit).append('\n'));
  }

  /** All fields but the samples, in llama-bench's order, then Steelyard's own. */
  private static Map<String, Object> fields(BenchRow row) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("build_commit", row.buildCommit());
    fields.put("build_number", 0);
    fields.put("cpu_info", row.cpuInfo());
    fields.put("gpu_info", "");
    fields.put("backends", row.backend());
    fields.put("model_filename", row.modelFilename());
    fields.put("model_type", row.modelType());
    fields.put("model_size", row.modelSize());
    fields.put("model_n_params", row.modelParameters());
    fields.put("n_batch", 0);
    fields.put("n_ubatch", 0);
    fields.put("n_threads", row.threads());
    // Readers join on these fields and expect every one, never null: what an engine has no say in
    // is off, what isn't known is empty, and the row's settings replace either.
    fields.put("cpu_mask", "0x0");
    fields.put("cpu_strict", false);
    fields.put("poll", 0);
    fields.put("type_k", "");
    fields.put("type_v", "");
    fields.put("n_gpu_layers", 0);
    fields.put("n_cpu_moe", 0);
    fields.put("split_mode", "none");
    fields.put("main_gpu", 0);
    fields.put("no_kv_offload", false);
    fields.put("flash_attn", 0);
    fields.put("devices", "none");
    fields.put("tensor_split", "0.00");
    fields.put("tensor_buft_overrides", "none");
    fields.put("load_mode", "");
    fields.put("lazy_mode", "");
    fields.put("embeddings", false);
    fields.put("no_op_offload", 0);
    fields.put("no_host", false);
    fields.put("fit_target", 0);
    fields.put("fit_min_ctx", 0);
    fields.put("n_prompt", row.promptTokens());
    fields.put("n_gen", row.generatedTokens());
    fields.put("n_depth", row.depth());
    fields.put("test_time", time(row.testTime()));
    fields.put("avg_ns", Math.round(mean(nanos(row))));
    fields.put("stddev_ns", Math.round(deviation(nanos(row))));
    fields.put("avg_ts", mean(row.samplesPerSecond()));
    fields.put("stddev_ts", deviation(row.samplesPerSecond()));
    fields.put("label", row.label());
    fields.put("test", row.test());
    fields.put("weights", row.randomWeights() ? "random" : "real");
    fields.put("avg_ts_low", row.throughput().map(Interval::low).orElse(null));
    fields.put("avg_ts_high", row.throughput().map(Interval::high).orElse(null));
    fields.put("avg_ts_roofline", row.roofline().orElse(null));
    new TreeMap<>(row.settings()).forEach(fields::put);
    return fields;
  }

  private static Map<String, Object> object(BenchRow row) {
    Map<String, Object> object = fields(row);
    object.put("samples_ns", row.samplesNanos());
    object.put("samples_ts", row.samplesPerSecond());
    return object;
  }

  private static String csv(List<Map<String, Object>> rows) {
    // One engine may state settings that another doesn't.
    Map<String, Object> header = new LinkedHashMap<>();
    rows.forEach(header::putAll);
    StringBuilder out = new StringBuilder(String.join(",", header.keySet())).append('\n');
    for (Map<String, Object> row : rows) {
      out.append(
              header.keySet().stream()
                  .map(name -> quoted(row.get(name)))
                  .collect(Collectors.joining(",")))
          .append('\n');
    }
    return out.toString();
  }

  private static String quoted(Object value) {
    String text =
        switch (value) {
          case null -> "";
          case Boolean flag -> flag ? "1" : "0";
          case Double number -> String.format(Locale.ROOT, "%.6f", number);
          default -> value.toString();
        };
    return '"' + text.replace("\"", "\"\"") + '"';
  }

  private static String markdown(List<BenchRow> rows) {
    boolean severalLabels = rows.stream().map(BenchRow::label).distinct().count() > 1;
    boolean random = rows.stream().anyMatch(BenchRow::randomWeights);
    List<String> headers =
        new ArrayList<>(List.of("model", "size", "params", "backend", "threads", "test", "t/s"));
    if (severalLabels) {
      headers.add(3, "engine");
    }
    boolean shares = rows.stream().anyMatch(row -> row.roofline().isPresent());
    if (shares) {
      headers.add("of limit");
    }
    List<List<String>> lines = new ArrayList<>();
    for (BenchRow row : rows) {
      List<String> line =
          new ArrayList<>(
              List.of(
                  row.modelType() + (row.randomWeights() ? " (random weights)" : ""),
                  size(row.modelSize()),
                  parameters(row.modelParameters()),
                  row.backend(),
                  String.valueOf(row.threads()),
                  row.test(),
                  plain(mean(row.samplesPerSecond()))
                      + " ± "
                      + plain(deviation(row.samplesPerSecond()))));
      if (severalLabels) {
        line.add(3, row.label());
      }
      if (shares) {
        line.add(row.roofline().map(share -> Format.percent(share, 0)).orElse("–"));
      }
      lines.add(line);
    }
    StringBuilder out = new StringBuilder(markdown(headers, lines));
    out.append("\nt/s: mean ± standard deviation over trials\n");
    if (shares) {
      out.append("of limit: share of the speed that the machine's measured limits allow\n");
    }
    footer(out, random, rows.stream().map(BenchRow::buildCommit));
    return out.toString();
  }

  private static String markdown(List<String> headers, List<List<String>> lines) {
    List<String> left = List.of("model", "engine", "backend");
    int[] widths = new int[headers.size()];
    for (int i = 0; i < widths.length; i++) {
      int column = i;
      widths[i] =
          Math.max(
              DisplayWidth.of(headers.get(i)),
              lines.stream()
                  .mapToInt(line -> DisplayWidth.of(Markdown.cell(line.get(column))))
                  .max()
                  .orElse(0));
    }
    StringBuilder out = new StringBuilder();
    List<List<String>> all = new ArrayList<>();
    all.add(headers);
    all.addAll(lines);
    for (int y = 0; y < all.size(); y++) {
      out.append('|');
      for (int i = 0; i < widths.length; i++) {
        String text = Markdown.cell(all.get(y).get(i));
        out.append(' ')
            .append(
                left.contains(headers.get(i))
                    ? DisplayWidth.padRight(text, widths[i])
                    : DisplayWidth.padLeft(text, widths[i]))
            .append(" |");
      }
      out.append('\n');
      if (y == 0) {
        out.append('|');
        for (int i = 0; i < widths.length; i++) {
          String rule = "-".repeat(widths[i] - 1);
          out.append(' ').append(rule).append(left.contains(headers.get(i)) ? "- |" : ": |");
        }
        out.append('\n');
      }
    }
    return out.toString();
  }

  private static String size(long bytes) {
    return bytes < 1L << 30
        ? plain(bytes / 1048576.0) + " MiB"
        : plain(bytes / 1073741824.0) + " GiB";
  }

  private static String parameters(long count) {
    return count < 1_000_000_000L ? plain(count / 1e6) + " M" : plain(count / 1e9) + " B";
  }

  /** Two decimals without groups: readers of this format parse them. */
  private static String plain(double value) {
    return Format.decimals(value, 2).replace(",", "");
  }

  private static List<Double> nanos(BenchRow row) {
    return row.samplesNanos().stream().map(Long::doubleValue).toList();
  }

  private static double mean(List<Double> samples) {
    return samples.stream().mapToDouble(Double::doubleValue).average().orElseThrow();
  }

  /** Standard deviation of the sample, 0 for a single value, as llama-bench has it. */
  private static double deviation(List<Double> samples) {
    double mean = mean(samples);
    double squares = samples.stream().mapToDouble(s -> (s - mean) * (s - mean)).sum();
    return samples.size() < 2 ? 0 : Math.sqrt(squares / (samples.size() - 1));
  }
}
