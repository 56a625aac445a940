package io.steelyard.history.imports;

import io.steelyard.history.MeasuredCell;
import io.steelyard.history.RunRecord;
import io.steelyard.history.TimedValue;
import io.steelyard.history.imports.Imported.Figures;
import io.steelyard.history.imports.Imported.Measure;
import io.steelyard.history.imports.Imported.Subject;
import io.steelyard.lab.record.Entry.Role;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * vLLM's {@code benchmark_serving --save-result} ({@code vllm bench serve}): one object a run, or
 * several in one file. Each request is a trial; requests that failed are kept and don't count.
 */
final class VllmServingJson implements Importer {
  static final String SOURCE = "vllm";

  private static final Pattern LATENCY =
      Pattern.compile("(mean|median|std|p\\d{1,2}(?:\\.\\d{1,4})?)_(ttft|tpot|itl|e2el)_ms");
  private static final Map<String, Measure> RATES =
      Map.of(
          "request_throughput", new Measure("request throughput", "req/s", Imported.HIGHER),
          "request_goodput:", new Measure("goodput", "req/s", Imported.HIGHER),
          "request_goodput", new Measure("goodput", "req/s", Imported.HIGHER),
          "output_throughput", new Measure("output throughput", "tok/s", Imported.HIGHER),
          "total_token_throughput", new Measure("total throughput", "tok/s", Imported.HIGHER));

  /** In the local time of the machine that wrote it. */
  private static final DateTimeFormatter DATE = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss");

  @Override
  public String name() {
    return SOURCE;
  }

  @Override
  public List<RunRecord> read(Path file) {
    byte[] bytes = Bounds.bytes(file);
    List<RunRecord> runs = new ArrayList<>();
    for (JsonPlace root : JsonPlace.sequence(file, bytes)) {
      runs.add(run(file, bytes, runs.size(), root));
    }
    return runs;
  }

  private static RunRecord run(Path file, byte[] bytes, int which, JsonPlace root) {
    int completed = root.get("completed").count();
    String state = completed == 0 ? Imported.FAILED : Imported.STEADY;
    Subject subject = new Subject(label(root), SOURCE, root.textOr("model_id", ""), "");
    Map<String, Figures> latencies = new LinkedHashMap<>();
    List<MeasuredCell> cells = new ArrayList<>();
    Map<String, Object> settings = new LinkedHashMap<>();
    root.fields()
        .forEach(
            (field, value) -> {
              Matcher latency = LATENCY.matcher(field);
              if (RATES.containsKey(field)) {
                if (root.has(field)) {
                  cells.add(
                      Imported.cell(
                          subject,
                          RATES.get(field),
                          List.of(),
                          Figures.of(value.amount(), null),
                          state));
                }
              } else if (latency.matches()) {
                note(latency.group(1), latency.group(2), value.amount(), latencies);
              } else if (!value.isArray() && !value.isObject() && root.has(field)) {
                settings.put(Bounds.clean(root.place(), field), value.scalar());
              }
            });
    latencies.forEach(
        (metric, figures) ->
            cells.add(
                Imported.cell(
                    subject,
                    new Measure(metric, "ms", Imported.LOWER),
                    values(root, metric),
                    figures,
                    state)));
    if (cells.isEmpty()) {
      throw root.refused("it has no result of benchmark_serving");
    }
    Map<String, Object> environment = new LinkedHashMap<>();
    environment.put("benchmark", settings);
    return Imported.run(
        file,
        bytes,
        which,
        SOURCE,
        root.find("date").map(VllmServingJson::time),
        "",
        "unknown",
        RunRecord.Commit.UNKNOWN,
        environment,
        cells);
  }

  /** The server with the load that was put on it. */
  private static String label(JsonPlace root) {
    String server =
        root.find("label")
            .or(() -> root.find("backend"))
            .or(() -> root.find("endpoint_type"))
            .map(JsonPlace::text)
            .filter(name -> !name.isEmpty())
            .orElse(SOURCE);
    List<String> load = new ArrayList<>();
    root.find("request_rate").ifPresent(rate -> load.add("rate=" + rate.scalar()));
    root.find("max_concurrency").ifPresent(most -> load.add("concurrency=" + most.scalar()));
    return load.isEmpty() ? server : server + ":" + String.join(",", load);
  }

  /** A percentile is a metric of its own: {@code ttft p99}. */
  private static void note(
      String figure, String latency, double value, Map<String, Figures> latencies) {
    Figures one =
        switch (figure) {
          case "median" -> new Figures(null, value, null, null, null);
          case "std" -> new Figures(null, null, value, null, null);
          default -> Figures.of(value, null);
        };
    String metric = figure.startsWith("p") ? latency + " " + figure : latency;
    latencies.merge(metric, one, Figures::or);
  }

  /** The times of the requests, or of the gaps between tokens, in milliseconds. */
  private static List<TimedValue> values(JsonPlace root, String metric) {
    return switch (metric) {
      case "ttft" -> ttfts(root);
      case "itl" -> itls(root);
      default -> List.of();
    };
  }

  private static List<TimedValue> ttfts(JsonPlace root) {
    Set<Integer> failed = failed(root);
    List<TimedValue> values = new ArrayList<>();
    for (JsonPlace seconds : elements(root, "ttfts")) {
      int request = values.size();
      values.add(
          new TimedValue(
              1, 1, 1, Role.TRIAL, request, !failed.contains(request), milliseconds(seconds)));
    }
    return values;
  }

  private static List<TimedValue> itls(JsonPlace root) {
    Set<Integer> failed = failed(root);
    List<TimedValue> values = new ArrayList<>();
    int request = 0;
    for (JsonPlace gaps : elements(root, "itls")) {
      boolean counts = !failed.contains(request++);
      for (JsonPlace seconds : gaps.elements(Bounds.VALUES)) {
        if (values.size() == Bounds.VALUES) {
          throw root.refused("it has more than %,d gaps between tokens".formatted(Bounds.VALUES));
        }
        values.add(
            new TimedValue(1, 1, 1, Role.TRIAL, values.size(), counts, milliseconds(seconds)));
      }
    }
    return values;
  }

  private static double milliseconds(JsonPlace seconds) {
    return seconds.amount() * 1e3;
  }

  private static Set<Integer> failed(JsonPlace root) {
    Set<Integer> failed = new HashSet<>();
    int request = 0;
    for (JsonPlace error : elements(root, "errors")) {
      if (!error.scalar().isEmpty()) {
        failed.add(request);
      }
      request++;
    }
    return failed;
  }

  private static List<JsonPlace> elements(JsonPlace root, String field) {
    return root.find(field).map(array -> array.elements(Bounds.VALUES)).orElse(List.of());
  }

  private static Instant time(JsonPlace place) {
    String text = place.text();
    try {
      return LocalDateTime.parse(text, DATE).atZone(ZoneId.systemDefault()).toInstant();
    } catch (DateTimeException _) {
      throw place.refused("'" + text + "' is no time");
    }
  }
}
