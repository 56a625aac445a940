package io.steelyard.app;

import io.steelyard.models.quantize.Readback.Result;
import io.steelyard.reports.terminal.Format;
import io.steelyard.reports.terminal.Table;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/** What became of a model's tensors, for people: by kind of tensor and type, or each by itself. */
final class QuantizationTable {
  private QuantizationTable() {}

  static void print(Console console, List<Result> results, boolean each) {
    Map<String, List<Result>> rows = new LinkedHashMap<>();
    for (Result result : results) {
      String kind = result.name().replaceFirst("^blk\\.\\d+\\.", "blk.*.");
      String key = each ? result.name() : kind + " " + result.from() + " " + result.to();
      rows.computeIfAbsent(key, _ -> new ArrayList<>()).add(result);
    }
    boolean sparse = results.stream().anyMatch(r -> r.zeros() > 0.2);
    Table table =
        new Table(console.style())
            .column(each ? "tensor" : "tensors", Table.Align.LEFT)
            .column("from", Table.Align.LEFT)
            .column("to", Table.Align.LEFT)
            .column("before", Table.Align.RIGHT)
            .column("after", Table.Align.RIGHT)
            .column("error", Table.Align.RIGHT);
    if (sparse) {
      table.column("zeros", Table.Align.RIGHT);
    }
    for (List<Result> some : rows.values()) {
      Result first = some.getFirst();
      String name = each ? first.name() : first.name().replaceFirst("^blk\\.\\d+\\.", "blk.*.");
      add(
          table,
          some.size() == 1 ? first.name() : name + " × " + some.size(),
          first.from().name(),
          first.to().name(),
          some,
          sparse);
    }
    add(table, "all", "", "", results, sparse);
    console.table(table.render());
    notes(console, results);
  }

  private static void add(
      Table table, String name, String from, String to, List<Result> some, boolean sparse) {
    List<String> cells =
        new ArrayList<>(
            List.of(
                name,
                from,
                to,
                Format.bytes(sum(some, Result::before)),
                Format.bytes(sum(some, Result::after)),
                error(some)));
    if (sparse) {
      double zeros = some.stream().mapToDouble(r -> r.zeros() * r.values()).sum();
      cells.add(Format.percent(zeros / sum(some, Result::values), 1));
    }
    table.row(cells.toArray(String[]::new));
  }

  private static long sum(Collection<Result> results, ToLongFunction<Result> what) {
    return results.stream().mapToLong(what).sum();
  }

  /** The differences' root mean square as a share of the weights'. */
  private static String error(List<Result> some) {
    double errors = some.stream().mapToDouble(r -> r.error() * r.error() * r.values()).sum();
    double squares = some.stream().mapToDouble(r -> r.size() * r.size() * r.values()).sum();
    return squares == 0 ? "–" : Format.significant(100 * Math.sqrt(errors / squares), 3) + " %";
  }

  private static void notes(Console console, List<Result> results) {
    Map<String, List<String>> notes = new LinkedHashMap<>();
    for (Result result : results) {
      if (!result.note().isEmpty()) {
        notes
            .computeIfAbsent(
                result.note() + ": " + result.to() + " instead", _ -> new ArrayList<>())
            .add(result.name());
      }
    }
    notes.forEach(
        (note, names) ->
            console.result(
                "%s (%s)"
                    .formatted(
                        note,
                        names.size() == 1
                            ? names.getFirst()
                            : names.getFirst() + " and " + (names.size() - 1) + " others")));
  }
}
