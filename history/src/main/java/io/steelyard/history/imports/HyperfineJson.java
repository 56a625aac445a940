package io.steelyard.history.imports;

import io.steelyard.history.MeasuredCell;
import io.steelyard.history.RunRecord;
import io.steelyard.history.TimedValue;
import io.steelyard.history.imports.Imported.Figures;
import io.steelyard.history.imports.Imported.Measure;
import io.steelyard.history.imports.Imported.Subject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * {@code hyperfine --export-json}: a command's time, in seconds, in each of its runs. A run is a
 * fresh process, so it is a fork of one trial.
 */
final class HyperfineJson implements Importer {
  static final String SOURCE = "hyperfine";

  @Override
  public String name() {
    return SOURCE;
  }

  @Override
  public List<RunRecord> read(Path file) {
    byte[] bytes = Bounds.bytes(file);
    List<MeasuredCell> cells = new ArrayList<>();
    for (JsonPlace result :
        JsonPlace.parse(file, bytes).get("results").someElements(Bounds.CELLS)) {
      add(result, cells);
    }
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
            Map.of(),
            cells));
  }

  private static void add(JsonPlace result, List<MeasuredCell> cells) {
    String command = result.get("command").text();
    if (command.isEmpty()) {
      throw result.refused("a result without a command");
    }
    Subject subject = new Subject(command, SOURCE, "", "");
    boolean failed =
        result.find("exit_codes").stream()
            .flatMap(codes -> codes.elements(Bounds.VALUES).stream())
            .anyMatch(code -> !code.isNumber() || code.number() != 0);
    String state = failed ? Imported.FAILED : Imported.STEADY;
    cells.add(
        Imported.cell(
            subject,
            new Measure("time", "s", Imported.LOWER),
            forks(result, "times", 1),
            Figures.of(result),
            state));
    for (String part : List.of("user", "system")) {
      Double seconds = result.amountOrNull(part);
      if (seconds != null) {
        cells.add(
            Imported.cell(
                subject,
                new Measure(part, "s", Imported.LOWER),
                List.of(),
                Figures.of(seconds, null),
                state));
      }
    }
    List<TimedValue> memory = forks(result, "memory_usage_byte", 1e-6);
    if (!memory.isEmpty()) {
      cells.add(
          Imported.cell(
              subject, new Measure("memory", "MB", Imported.LOWER), memory, Figures.NONE, state));
    }
  }

  private static List<TimedValue> forks(JsonPlace result, String field, double unit) {
    List<TimedValue> values = new ArrayList<>();
    result
        .find(field)
        .ifPresent(
            array -> {
              for (JsonPlace value : array.elements(Bounds.VALUES)) {
                values.add(TimedValue.trial(values.size() + 1, 0, value.amount() * unit));
              }
            });
    return values;
  }
}
