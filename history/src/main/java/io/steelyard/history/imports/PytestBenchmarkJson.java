package io.steelyard.history.imports;

import io.steelyard.history.MeasuredCell;
import io.steelyard.history.RunRecord;
import io.steelyard.history.imports.Imported.Figures;
import io.steelyard.history.imports.Imported.Measure;
import io.steelyard.history.imports.Imported.Subject;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * {@code pytest --benchmark-json}: a benchmark's statistics, in seconds, and the time of each round
 * where they were asked for. All rounds are of one process.
 */
final class PytestBenchmarkJson implements Importer {
  static final String SOURCE = "pytest-benchmark";

  @Override
  public String name() {
    return SOURCE;
  }

  @Override
  public List<RunRecord> read(Path file) {
    byte[] bytes = Bounds.bytes(file);
    JsonPlace root = JsonPlace.parse(file, bytes);
    List<MeasuredCell> cells = new ArrayList<>();
    for (JsonPlace benchmark : root.get("benchmarks").someElements(Bounds.CELLS)) {
      cells.add(cell(benchmark));
    }
    Map<String, Object> environment = new LinkedHashMap<>();
    root.find("machine_info")
        .ifPresent(
            machine -> {
              // A name and a processor tell one machine from another.
              if (machine.has("node") && machine.has("cpu")) {
                environment.put("hardware", hardware(machine));
              }
              environment.put("machine", machine.plain());
            });
    root.find("version").ifPresent(version -> environment.put("version", version.scalar()));
    return List.of(
        Imported.run(
            file,
            bytes,
            0,
            SOURCE,
            root.find("datetime").map(PytestBenchmarkJson::time),
            "",
            "unknown",
            commit(root),
            environment,
            cells));
  }

  private static MeasuredCell cell(JsonPlace benchmark) {
    String name = benchmark.find("fullname").orElseGet(() -> benchmark.get("name")).text();
    if (name.isEmpty()) {
      throw benchmark.refused("a benchmark without a name");
    }
    JsonPlace stats = benchmark.get("stats");
    double[] rounds =
        stats.find("data").map(data -> data.elements(Bounds.VALUES)).orElse(List.of()).stream()
            .mapToDouble(JsonPlace::amount)
            .toArray();
    return Imported.cell(
        new Subject(name, SOURCE, "", ""),
        new Measure("time", "s", Imported.LOWER),
        Imported.trials(rounds),
        Figures.of(stats),
        Imported.STEADY);
  }

  private static Map<String, Object> hardware(JsonPlace machine) {
    Map<String, Object> hardware = new LinkedHashMap<>();
    JsonPlace cpu = machine.get("cpu");
    if (cpu.isObject()) {
      hardware.put("processor", cpu.textOr("brand_raw", cpu.textOr("brand", "")));
      cpu.find("count").ifPresent(cores -> hardware.put("cores", cores.scalar()));
    }
    hardware.put("host", machine.get("node").text());
    hardware.put("architecture", machine.textOr("machine", ""));
    return hardware;
  }

  private static RunRecord.Commit commit(JsonPlace root) {
    Optional<JsonPlace> info = root.find("commit_info");
    if (info.isEmpty() || !info.get().has("id")) {
      return RunRecord.Commit.UNKNOWN;
    }
    return new RunRecord.Commit(
        info.get().get("id").text(),
        info.get().find("dirty").map(dirty -> dirty.scalar().equals("true")));
  }

  /** Older versions leave out the offset of what is UTC. */
  private static Instant time(JsonPlace place) {
    String text = place.text();
    try {
      return OffsetDateTime.parse(text).toInstant();
    } catch (DateTimeException _) {
      try {
        return LocalDateTime.parse(text).toInstant(ZoneOffset.UTC);
      } catch (DateTimeException _) {
        throw place.refused("'" + text + "' is no time");
      }
    }
  }
}
