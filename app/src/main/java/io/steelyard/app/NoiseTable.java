package io.steelyard.app;

import io.steelyard.lab.calibration.Noise;
import io.steelyard.reports.terminal.Format;
import io.steelyard.reports.terminal.Style;
import io.steelyard.reports.terminal.Table;
import io.steelyard.reports.terminal.Table.Align;
import io.steelyard.reports.terminal.Table.Cell;
import io.steelyard.stats.Proportion;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;

/** What an engine against itself showed, in words. */
final class NoiseTable {
  private static final double LEVEL = 0.95;
  private static final List<Integer> MINUTES = List.of(1, 5, 10);

  private NoiseTable() {}

  /** {@code 0 of 24 comparisons of an engine with itself called it faster or slower, …}. */
  static String alarms(List<Noise> noise) {
    int pairs = noise.stream().mapToInt(Noise::pairs).sum();
    int alarms = noise.stream().mapToInt(Noise::falseAlarms).sum();
    return "%d of %d comparisons of an engine with itself called it faster or slower: the chance is at most %s"
        .formatted(alarms, pairs, Format.percent(Proportion.atMost(alarms, pairs, LEVEL), 0));
  }

  /** The smallest changes that can be found, by metric and time. */
  static String render(List<Noise> noise, double margin, Style style) {
    Table table = new Table(style).column("metric", Align.LEFT);
    table.column("blocks", Align.RIGHT).column("vary by", Align.RIGHT).column("take", Align.RIGHT);
    for (int minutes : MINUTES) {
      table.column("found in " + minutes + " min", Align.RIGHT);
    }
    for (Noise metric : noise) {
      List<Cell> cells =
          new ArrayList<>(
              List.of(
                  Cell.of(metric.metric()),
                  Cell.of(Integer.toString(metric.blocks())),
                  Cell.of(Format.percent(metric.deviation(), 1)),
                  Cell.of(Format.significant(metric.blockSeconds(), 2) + " s")));
      MINUTES.forEach(minutes -> cells.add(Cell.of(change(metric, minutes, margin))));
      table.row(cells.toArray(Cell[]::new));
    }
    return table.render();
  }

  /** For a report: what was found in all calibrations, and the changes that can be found. */
  static String sentence(List<Noise> noise, double margin) {
    List<String> changes = new ArrayList<>();
    for (String name : noise.stream().map(Noise::metric).distinct().toList()) {
      // What later calibrations found stands for the machine as it is now.
      Noise last = noise.stream().filter(n -> n.metric().equals(name)).toList().getLast();
      changes.add(
          "%s of %s in 1 min, %s in 5 min, %s in 10 min"
              .formatted(
                  name,
                  change(last, MINUTES.get(0), margin),
                  change(last, MINUTES.get(1), margin),
                  change(last, MINUTES.get(2), margin)));
    }
    return "In all calibrations of this hardware %s. Of a default model's metrics alone, changes that a run finds with a chance of %s: %s."
        .formatted(alarms(noise), Format.percent(Noise.POWER, 0), String.join("; ", changes));
  }

  private static String change(Noise metric, int minutes, double margin) {
    OptionalDouble change = metric.detectable(60.0 * minutes, margin);
    return change.isPresent() ? Format.percent(change.getAsDouble(), 1) : "–";
  }
}
