package io.steelyard.app;

import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.reports.DetailTable;
import java.util.List;
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

  /** All that a run has. */
  static List<StudyView> of(RunDirectory directory, StudyRun.Outcome outcome) {
    if (outcome.blocks().all().isEmpty()) {
      return List.of();
    }
    return Stream.of(
            DiffusionView.of(directory, outcome),
            ForwardView.of(directory, outcome),
            MemoryView.of(directory, outcome),
            LoadView.of(directory, outcome),
            FusionView.of(directory))
        .flatMap(Optional::stream)
        .toList();
  }
}
