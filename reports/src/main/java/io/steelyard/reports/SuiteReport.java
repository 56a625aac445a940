package io.steelyard.reports;

import io.steelyard.reports.HtmlPage.Cell;
import io.steelyard.reports.terminal.Style;
import io.steelyard.reports.terminal.Table;
import io.steelyard.reports.terminal.Table.Align;
import java.util.ArrayList;
import java.util.List;

/**
 * All that a suite found, on one page: its steps, one table of all comparisons, and what each step
 * has to say.
 *
 * @param title of the page
 * @param setting what was measured on what, in a line
 * @param steps in their order, those that could not run among them
 * @param studies all comparisons
 */
public record SuiteReport(
    String title, String setting, List<Step> steps, List<SweepTable.Study> studies) {
  private static final List<String> HEADERS = List.of("step", "outcome", "took");

  /**
   * One step.
   *
   * @param name its name
   * @param command as one would type it; empty if it did not run
   * @param outcome in a few words: how it ended, or why it did not run
   * @param took how long, in words; empty if it did not run
   * @param report its own report, seen from this one; empty where there is none
   * @param sentences what it found
   * @param output what it printed, where no sentences say it
   */
  public record Step(
      String name,
      String command,
      String outcome,
      String took,
      String report,
      List<String> sentences,
      String output) {
    public Step {
      sentences = List.copyOf(sentences);
    }

    /** A step that did not run. */
    public static Step notRun(String name, String reason) {
      return new Step(name, "", "not run: " + reason, "", "", List.of(), "");
    }

    private boolean ran() {
      return !command.isEmpty();
    }
  }

  public SuiteReport {
    steps = List.copyOf(steps);
    studies = List.copyOf(studies);
  }

  /** The steps as text, no line wider than the style. */
  public String render(Style style) {
    Table table = new Table(style);
    table.column("step", Align.LEFT).column("outcome", Align.LEFT).column("took", Align.RIGHT);
    for (Step step : steps) {
      table.row(step.name(), step.outcome(), step.took());
    }
    return table.render();
  }

  /** As Markdown. */
  public String markdown() {
    StringBuilder out = new StringBuilder("# ").append(Markdown.text(title)).append("\n\n");
    out.append(Markdown.text(setting)).append("\n\n");
    List<List<String>> rows = new ArrayList<>();
    for (Step step : steps) {
      String name = Markdown.text(step.name());
      rows.add(
          List.of(
              step.report().isEmpty() ? name : "[%s](<%s>)".formatted(name, step.report()),
              Markdown.text(step.outcome()),
              step.took()));
    }
    out.append(Markdown.table(HEADERS, List.of(false, false, true), rows));
    if (!studies.isEmpty()) {
      out.append("\n## All comparisons\n\n").append(SweepTable.markdownTable(studies));
    }
    for (Step step : steps) {
      if (step.ran()) {
        out.append("\n## ").append(Markdown.text(step.name())).append("\n\n");
        out.append(Markdown.block("sh", step.command()));
        if (!step.sentences().isEmpty()) {
          out.append('\n');
        }
        step.sentences().forEach(s -> out.append("- ").append(Markdown.text(s)).append('\n'));
        if (!step.output().isEmpty()) {
          out.append('\n').append(Markdown.block("text", step.output()));
        }
      }
    }
    return out.toString();
  }

  /** As a page of HTML. */
  public String html() {
    HtmlPage page = new HtmlPage(title).add("p", setting);
    page.table(
        HEADERS.stream().map(Cell::of).toList(),
        steps.stream()
            .map(
                step ->
                    List.of(
                        new Cell(step.name(), step.report(), false),
                        Cell.of(step.outcome()),
                        new Cell(step.took(), "", true)))
            .toList());
    if (!studies.isEmpty()) {
      page.add("h2", "All comparisons");
      List<String> headers = SweepTable.headers(studies);
      page.table(
          cells(headers, headers),
          SweepTable.rows(studies).stream().map(row -> cells(headers, row)).toList());
      page.add("p", SweepTable.LEGEND);
    }
    for (Step step : steps) {
      if (step.ran()) {
        page.add("h2", step.name()).add("pre", step.command()).list(step.sentences());
        if (!step.output().isEmpty()) {
          page.add("pre", step.output());
        }
      }
    }
    return page.end();
  }

  private static List<Cell> cells(List<String> headers, List<String> texts) {
    List<Cell> cells = new ArrayList<>();
    for (int i = 0; i < texts.size(); i++) {
      cells.add(new Cell(texts.get(i), "", SweepTable.isFigure(headers.get(i))));
    }
    return cells;
  }
}
