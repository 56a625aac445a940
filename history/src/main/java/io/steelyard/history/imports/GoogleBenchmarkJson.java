package io.steelyard.history.imports;

import io.steelyard.history.MeasuredCell;
import io.steelyard.history.RunRecord;
import io.steelyard.history.TimedValue;
import io.steelyard.history.imports.Imported.Figures;
import io.steelyard.history.imports.Imported.Measure;
import io.steelyard.history.imports.Imported.Subject;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Google Benchmark's {@code --benchmark_format=json}: repetitions of a benchmark in one process,
 * aggregates over them, or both. Where there are repetitions the aggregates are derived again; fits
 * of complexity are left out.
 */
final class GoogleBenchmarkJson implements Importer {
  static final String SOURCE = "google-benchmark";

  private static final Set<String> UNITS = Set.of("ns", "us", "ms", "s");

  /** Numbers of a benchmark that are no measurement. */
  private static final Set<String> DESCRIPTION =
      Set.of(
          "family_index",
          "per_family_instance_index",
          "repetitions",
          "repetition_index",
          "threads",
          "iterations");

  @Override
  public String name() {
    return SOURCE;
  }

  /** What is known of one metric of one benchmark. */
  private static final class Series {
    private final Measure measure;
    private final List<TimedValue> values = new ArrayList<>();
    private Figures aggregates = Figures.NONE;

    Series(Measure measure) {
      this.measure = measure;
    }
  }

  /** What is known of one benchmark. */
  private static final class Benchmark {
    private final Map<String, Series> series = new LinkedHashMap<>();
    private boolean failed;
  }

  @Override
  public List<RunRecord> read(Path file) {
    byte[] bytes = Bounds.bytes(file);
    JsonPlace root = JsonPlace.parse(file, bytes);
    Map<String, Benchmark> benchmarks = new LinkedHashMap<>();
    for (JsonPlace row : root.get("benchmarks").someElements(Bounds.CELLS)) {
      String name = row.find("run_name").orElseGet(() -> row.get("name")).text();
      if (name.isEmpty()) {
        throw row.refused("a benchmark without a name");
      }
      add(row, benchmarks.computeIfAbsent(name, n -> new Benchmark()));
    }
    List<MeasuredCell> cells = new ArrayList<>();
    benchmarks.forEach((name, benchmark) -> cells.addAll(cells(name, benchmark)));
    if (cells.isEmpty()) {
      throw root.refused("none of its benchmarks measured anything");
    }
    Map<String, Object> environment = new LinkedHashMap<>();
    Optional<JsonPlace> context = root.find("context");
    context.ifPresent(
        c -> {
          if (c.has("host_name") && c.has("num_cpus")) {
            environment.put("hardware", hardware(c));
          }
          environment.put("context", c.plain());
        });
    return List.of(
        Imported.run(
            file,
            bytes,
            0,
            SOURCE,
            context.flatMap(c -> c.find("date")).map(GoogleBenchmarkJson::time),
            context.map(c -> c.textOr("executable", "")).orElse(""),
            "unknown",
            RunRecord.Commit.UNKNOWN,
            environment,
            cells));
  }

  private static void add(JsonPlace row, Benchmark benchmark) {
    if (row.scalarOr("error_occurred", "false").equals("true")) {
      benchmark.failed = true;
      benchmark.series.computeIfAbsent(
          "real_time", m -> new Series(new Measure(m, "ns", Imported.LOWER)));
      return;
    }
    boolean aggregate = row.textOr("run_type", "iteration").equals("aggregate");
    String aggregated = row.textOr("aggregate_name", "");
    boolean share = row.textOr("aggregate_unit", "time").equals("percentage");
    if (aggregate && (share || !Set.of("mean", "median", "stddev").contains(aggregated))) {
      return;
    }
    row.fields()
        .forEach(
            (field, value) -> {
              if (value.isNumber() && !DESCRIPTION.contains(field)) {
                Measure measure = measure(row, Bounds.clean(row.place(), field));
                Series series =
                    benchmark.series.computeIfAbsent(measure.metric(), m -> new Series(measure));
                if (!series.measure.equals(measure)) {
                  throw value.refused("its unit is not that of the repetitions before it");
                }
                double number =
                    measure.better().equals(Imported.UNKNOWN) ? value.number() : value.amount();
                if (aggregate) {
                  series.aggregates = with(series.aggregates, aggregated, number);
                } else {
                  series.values.add(TimedValue.trial(1, series.values.size(), number));
                }
              }
            });
  }

  private static Figures with(Figures figures, String aggregate, double value) {
    return switch (aggregate) {
      case "mean" -> new Figures(value, figures.median(), figures.sd(), null, null);
      case "median" -> new Figures(figures.mean(), value, figures.sd(), null, null);
      default -> new Figures(figures.mean(), figures.median(), value, null, null);
    };
  }

  private static Measure measure(JsonPlace row, String field) {
    return switch (field) {
      case "real_time", "cpu_time" -> {
        String unit = row.textOr("time_unit", "ns");
        if (!UNITS.contains(unit)) {
          throw row.refused(
              "the time_unit '" + unit + "' is none of " + UNITS.stream().sorted().toList());
        }
        yield new Measure(field, unit, Imported.LOWER);
      }
      case "items_per_second" -> new Measure(field, "items/s", Imported.HIGHER);
      case "bytes_per_second" -> new Measure(field, "B/s", Imported.HIGHER);
      default -> new Measure(field, "", Imported.UNKNOWN);
    };
  }

  private static List<MeasuredCell> cells(String name, Benchmark benchmark) {
    Subject subject = new Subject(name, SOURCE, "", "");
    String state = benchmark.failed ? Imported.FAILED : Imported.STEADY;
    return benchmark.series.values().stream()
        .map(
            series ->
                Imported.cell(
                    subject,
                    series.measure,
                    series.values,
                    series.values.isEmpty() ? series.aggregates : Figures.NONE,
                    state))
        .toList();
  }

  private static Map<String, Object> hardware(JsonPlace context) {
    Map<String, Object> hardware = new LinkedHashMap<>();
    hardware.put("host", context.get("host_name").text());
    hardware.put("cores", context.get("num_cpus").count());
    context.find("mhz_per_cpu").ifPresent(mhz -> hardware.put("MHz", mhz.scalar()));
    context.find("caches").ifPresent(caches -> hardware.put("caches", caches.plain()));
    return hardware;
  }

  /** {@code 2026-02-03T10:11:12+01:00}, the offset in older versions without a colon. */
  private static Instant time(JsonPlace place) {
    String text = place.text().replaceFirst("([+-]\\d{2})(\\d{2})$", "$1:$2");
    try {
      return OffsetDateTime.parse(text).toInstant();
    } catch (DateTimeException _) {
      throw place.refused("'" + text + "' is no time");
    }
  }
}
