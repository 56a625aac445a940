package io.steelyard.history.imports;

import io.steelyard.history.MeasuredCell;
import io.steelyard.history.RunRecord;
import io.steelyard.history.TimedValue;
import io.steelyard.history.imports.Imported.Figures;
import io.steelyard.history.imports.Imported.Measure;
import io.steelyard.history.imports.Imported.Subject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * JMH's {@code -rf json}: an array of benchmarks with the score of every iteration by fork. The
 * interval kept is Steelyard's own over forks, not JMH's over iterations.
 */
final class JmhJson implements Importer {
  static final String SOURCE = "jmh";

  @Override
  public String name() {
    return "jmh";
  }

  @Override
  public List<RunRecord> read(Path file) {
    byte[] bytes = Bounds.bytes(file);
    List<JsonPlace> benchmarks = JsonPlace.parse(file, bytes).someElements(Bounds.CELLS);
    List<MeasuredCell> cells = new ArrayList<>();
    for (JsonPlace benchmark : benchmarks) {
      String label = label(benchmark);
      String mode = benchmark.get("mode").text();
      JsonPlace primary = benchmark.get("primaryMetric");
      boolean throughput = mode.equals("thrpt");
      cells.add(cell(label, mode, primary, throughput ? Imported.HIGHER : Imported.LOWER));
      benchmark
          .find("secondaryMetrics")
          .ifPresent(
              secondary ->
                  secondary
                      .fields()
                      .forEach(
                          (name, metric) ->
                              cells.add(
                                  cell(
                                      label,
                                      Bounds.clean(metric.place(), name),
                                      metric,
                                      Imported.UNKNOWN))));
    }
    Map<String, Object> environment = new LinkedHashMap<>();
    Map<String, Object> runtime = new LinkedHashMap<>();
    for (String field : List.of("jmhVersion", "jdkVersion", "vmName", "vmVersion", "jvmArgs")) {
      benchmarks.getFirst().find(field).ifPresent(value -> runtime.put(field, value.plain()));
    }
    environment.put("runtime", runtime);
    return List.of(
        Imported.run(
            file,
            bytes,
            0,
            SOURCE,
            Optional.empty(),
            "",
            "unknown",
            RunRecord.Commit.UNKNOWN,
            environment,
            cells));
  }

  /** The benchmark with its parameters: {@code org.example.Bench.copy:size=10}. */
  private static String label(JsonPlace benchmark) {
    String name = benchmark.get("benchmark").text();
    if (name.isEmpty()) {
      throw benchmark.refused("a benchmark without a name");
    }
    Map<String, JsonPlace> parameters =
        benchmark.find("params").map(JsonPlace::fields).orElse(Map.of());
    String threads = benchmark.scalarOr("threads", "1");
    List<String> options = new ArrayList<>();
    parameters.forEach(
        (key, value) -> options.add(Bounds.clean(benchmark.place(), key) + "=" + value.scalar()));
    if (!threads.equals("1")) {
      options.add("threads=" + threads);
    }
    return options.isEmpty()
        ? name
        : name + options.stream().collect(Collectors.joining(",", ":", ""));
  }

  private static MeasuredCell cell(String label, String metric, JsonPlace place, String better) {
    String unit = place.get("scoreUnit").text();
    // JMH writes the error of a single iteration as the text "NaN": it has none.
    double score =
        better.equals(Imported.UNKNOWN) ? place.get("score").number() : place.get("score").amount();
    return Imported.cell(
        new Subject(label, SOURCE, "", ""),
        new Measure(metric, unit, better),
        values(place, better.equals(Imported.UNKNOWN)),
        Figures.of(score, null),
        Imported.STEADY);
  }

  private static List<TimedValue> values(JsonPlace place, boolean anySign) {
    ToDoubleFunction<JsonPlace> score = anySign ? JsonPlace::number : JsonPlace::amount;
    return place
        .find("rawData")
        .map(forks -> values(forks, score))
        .or(() -> place.find("rawDataHistogram").map(forks -> values(forks, JmhJson::mean)))
        .orElse(List.of());
  }

  private static List<TimedValue> values(JsonPlace forks, ToDoubleFunction<JsonPlace> score) {
    List<TimedValue> values = new ArrayList<>();
    int fork = 0;
    for (JsonPlace iterations : forks.elements(Bounds.CELLS)) {
      fork++;
      int number = 0;
      for (JsonPlace iteration : iterations.elements(Bounds.VALUES)) {
        values.add(TimedValue.trial(fork, number++, score.applyAsDouble(iteration)));
      }
    }
    return values;
  }

  /** The mean of an iteration that was written as pairs of a value and how often it was seen. */
  private static double mean(JsonPlace iteration) {
    double sum = 0;
    double count = 0;
    for (JsonPlace pair : iteration.someElements(Bounds.VALUES)) {
      List<JsonPlace> both = pair.elements(2);
      if (both.size() != 2) {
        throw pair.refused("no pair of a value and its count");
      }
      double times = both.get(1).amount();
      sum += both.get(0).amount() * times;
      count += times;
    }
    if (!(count > 0) || !Double.isFinite(sum)) {
      throw iteration.refused("it counts nothing");
    }
    return sum / count;
  }
}
