package io.steelyard.app;

import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.reports.Chart;
import io.steelyard.reports.DetailTable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What a run of a special kind shows in a table of its own: on the terminal, in report.md and, row
 * by row, as JSON. It follows from what the run's directory holds, so a resumed run shows it, too.
 */
interface StudyView {
  DetailTable table();

  /** Records of numbers, one a row of the table. */
  List<?> rows();

  /** What the rows are called in JSON, and the file that holds them. */
  default String name() {
    return "rows";
  }

  /** The rows of all views by name. */
  static Map<String, List<Object>> rows(List<StudyView> views) {
    Map<String, List<Object>> rows = new LinkedHashMap<>();
    for (StudyView view : views) {
      rows.computeIfAbsent(view.name(), _ -> new ArrayList<>()).addAll(view.rows());
    }
    return rows;
  }

  /** Figures over the table's rows. */
  default List<? extends Chart> charts() {
    return List.of();
  }

  /** All that a run has. */
  static List<StudyView> of(RunDirectory directory, StudyRun.Outcome outcome) {
    if (outcome.blocks().all().isEmpty()) {
      return List.of();
    }
    return Stream.of(
            AttentionView.of(directory, outcome),
            AttentionGrowthView.of(directory, outcome),
            AttentionImpactView.of(directory, outcome),
            RingRanksView.of(directory, outcome),
            RingExactnessView.of(directory, outcome),
            DiffusionView.of(directory, outcome),
            ForwardView.of(directory, outcome),
            MemoryView.of(directory, outcome),
            LoadView.of(directory, outcome),
            FusionView.of(directory))
        .flatMap(Optional::stream)
        .toList();
  }
}
