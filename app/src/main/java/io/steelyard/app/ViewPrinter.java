package io.steelyard.app;

import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.reports.Headlines;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Prints the tables of a run's own kind, and what was found of its ratios. */
final class ViewPrinter implements StudyConsole.Printer {
  @Override
  public void print(Console console, RunDirectory directory, StudyRun.Outcome outcome) {
    for (StudyView view : StudyView.of(directory, outcome)) {
      console.table(view.table().render(console.style()));
      console.blank();
    }
    List<String> found = Headlines.of(outcome.summary(), directory.plan().design().margin());
    if (!found.isEmpty()) {
      found.forEach(console::result);
      console.blank();
    }
    console.result("Report: " + directory.path().resolve("report.md"));
  }

  @Override
  public Object document(RunDirectory directory, StudyRun.Outcome outcome) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("summary", outcome.summary());
    document.put("rows", List.of());
    document.putAll(StudyView.rows(StudyView.of(directory, outcome)));
    return document;
  }
}
