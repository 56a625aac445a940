package io.steelyard.app;

import io.steelyard.app.FusionCounts.Count;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.reports.DetailTable;
import io.steelyard.reports.terminal.Format;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What fused and unfused operators do in one call: how often they run and what they move. */
record FusionView(List<Count> rows) implements StudyView {
  static Optional<StudyView> of(RunDirectory directory) {
    return Files.exists(directory.path().resolve(FusionCounts.FILE))
        ? Optional.of(new FusionView(List.of(directory.read(FusionCounts.FILE, Count[].class))))
        : Optional.empty();
  }

  @Override
  public DetailTable table() {
    List<List<String>> lines = new ArrayList<>();
    for (String workload : rows.stream().map(Count::workload).distinct().toList()) {
      for (String label : rows.stream().map(Count::label).distinct().toList()) {
        List<Count> own =
            rows.stream()
                .filter(row -> row.workload().equals(workload) && row.label().equals(label))
                .toList();
        lines.add(
            line(
                workload,
                label,
                "all operators",
                own.stream().mapToLong(Count::calls).sum(),
                own.stream().mapToLong(Count::weightBytes).sum(),
                own.stream().mapToLong(Count::activationBytes).sum()));
        for (Count row : own) {
          if (differs(row)) {
            lines.add(
                line(
                    "", "", row.operator(), row.calls(), row.weightBytes(), row.activationBytes()));
          }
        }
      }
    }
    return new DetailTable(
        "Operators of one call, counted",
        List.of("call", "engine", "operator", "calls", "weights and cache MB", "activations MB"),
        lines,
        "Below each sum the operators that the two don't share. Fused: queries, keys and values are"
            + " one product, gate and up another, and the activation of the gate with its product by"
            + " up is one operator. The norm before a product, the rotation of queries and keys and"
            + " the store into the cache are operators of their own in both: this engine doesn't fuse"
            + " them. Activations: what operators read and write of them, counted from their sizes.");
  }

  /** Whether another label runs an operator otherwise in the same call. */
  private boolean differs(Count row) {
    List<Count> others =
        rows.stream()
            .filter(other -> other.workload().equals(row.workload()))
            .filter(other -> other.operator().equals(row.operator()))
            .toList();
    return others.size() == 1 || others.stream().anyMatch(other -> other.calls() != row.calls());
  }

  private static List<String> line(
      String workload,
      String label,
      String operator,
      long calls,
      long weightBytes,
      long activationBytes) {
    return List.of(
        workload,
        label,
        operator,
        Format.count(calls),
        Format.significant(weightBytes / 1e6, 4),
        Format.significant(activationBytes / 1e6, 4));
  }
}
