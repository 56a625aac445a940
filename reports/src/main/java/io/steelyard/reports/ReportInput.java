package io.steelyard.reports;

import io.steelyard.lab.record.Summary;
import java.util.List;
import java.util.Map;

/**
 * What {@code report.md} is written from.
 *
 * @param summary what the run found
 * @param commandLine the command that reproduces the run, as one would type it
 * @param environment the machine and the software, by topic; values are texts, numbers, lists or
 *     maps of such
 * @param series raw samples for the plots; may be empty
 * @param margin the change that matters, such as 0.02
 * @param formulas how each metric is defined, in words, by metric; may be empty
 * @param setting on what was measured, in a line: precision, processor, threads; may be empty
 * @param limits what shares of the roofline are shares of, in a sentence; empty where there are
 *     none
 * @param details tables of what the figures consist of; may be empty
 * @param notes sentences that a reader must know, such as why an interval is optimistic
 * @param charts figures of the run's own kind; may be empty
 */
public record ReportInput(
    Summary summary,
    String commandLine,
    Map<String, Object> environment,
    List<Series> series,
    double margin,
    Map<String, String> formulas,
    String setting,
    String limits,
    List<DetailTable> details,
    List<String> notes,
    List<Chart> charts) {

  public ReportInput {
    series = List.copyOf(series);
    details = List.copyOf(details);
    notes = List.copyOf(notes);
    charts = List.copyOf(charts);
    if (!(margin > 0 && margin < 1)) {
      throw new IllegalArgumentException("margin " + margin + " is not between 0 and 1");
    }
  }
}
