package io.steelyard.app;

import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.reports.terminal.Format;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Prints a table of many variants, and one line of what was found of them. */
final class AttentionQuickPrinter implements StudyConsole.Printer {
  @Override
  public void print(Console console, RunDirectory directory, StudyRun.Outcome outcome) {
    AttentionView.of(directory, outcome)
        .ifPresent(view -> console.table(view.table().render(console.style())));
    console.blank();
    console.result(RunReports.SHARED);
    console.blank();
    console.result("Report: " + directory.path().resolve("report.md"));
    console.result(verdict(directory, outcome));
  }

  @Override
  public Object document(RunDirectory directory, StudyRun.Outcome outcome) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("verdict", verdict(directory, outcome));
    document.put("summary", outcome.summary());
    document.put("rows", List.of());
    document.putAll(StudyView.rows(StudyView.of(directory, outcome)));
    return document;
  }

  private static String verdict(RunDirectory directory, StudyRun.Outcome outcome) {
    return AttentionView.of(directory, outcome)
            .map(view -> fastest(((AttentionView) view).rows()))
            .orElse("Nothing was measured")
        + "; "
        + parity(directory.plan().engines().size(), outcome)
        + ".";
  }

  /** Which variant is the fastest at the longest length, and by how much. */
  static String fastest(List<AttentionView.Row> rows) {
    String length = rows.getLast().length();
    List<AttentionView.Row> sorted =
        rows.stream()
            .filter(row -> row.length().equals(length))
            .sorted(Comparator.comparingDouble(AttentionView.Row::milliseconds))
            .toList();
    AttentionView.Row first = sorted.getFirst();
    Optional<AttentionView.Row> baseline =
        sorted.stream().filter(AttentionView.Row::isBaseline).findFirst();
    String begin = "At %s %s is the fastest".formatted(length, first.variant());
    if (baseline.isEmpty() || sorted.size() == 1) {
      return begin;
    }
    return first.isBaseline()
        ? "%s: %s, the next, is %s"
            .formatted(begin, sorted.get(1).variant(), ratio(sorted.get(1), first))
        : "%s: %s".formatted(begin, ratio(first, baseline.get()));
  }

  private static String ratio(AttentionView.Row row, AttentionView.Row baseline) {
    String executed =
        row.executed() == null
            ? ""
            : ", with %s of dense attention's scores".formatted(Format.percent(row.executed(), 1));
    return "%s× %s as fast as %s (%s)%s"
        .formatted(
            row.speedup() == null ? "?" : Format.significant(row.speedup(), 3),
            row.speedupLow() == null
                ? "[no interval]"
                : "[%s, %s]"
                    .formatted(
                        Format.significant(row.speedupLow(), 3),
                        Format.significant(row.speedupHigh(), 3)),
            baseline.variant(),
            row.verdict(),
            executed);
  }

  /** Which variants are what their names say. */
  private static String parity(int variants, StudyRun.Outcome outcome) {
    if (outcome.differing().isEmpty() && outcome.broken().isEmpty()) {
      return "all %d variants matched their definitions".formatted(variants);
    }
    String differing =
        outcome.differing().isEmpty()
            ? ""
            : String.join(", ", outcome.differing()) + " did not match their definitions";
    String broken = String.join("; ", outcome.broken());
    return differing + (differing.isEmpty() || broken.isEmpty() ? "" : "; ") + broken;
  }
}
