package io.steelyard.reports;

import io.steelyard.reports.HtmlPage.Cell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Tables and figures on a page of their own, as Markdown and as HTML.
 *
 * @param title of the page
 * @param setting what was measured on what, in a line
 * @param notes sentences that a reader must know
 * @param charts drawn beside the page
 * @param tables below the figures
 * @param command what makes the page again, as one would type it
 */
public record Page(
    String title,
    String setting,
    List<String> notes,
    List<Chart> charts,
    List<DetailTable> tables,
    String command) {
  public Page {
    notes = List.copyOf(notes);
    charts = List.copyOf(charts);
    tables = List.copyOf(tables);
  }

  /**
   * Writes {@code NAME.md}, {@code NAME.html} and the figures, as SVG and PNG, into a folder, which
   * is made where it is missing.
   *
   * @return the files written, the pages first, and what could not be drawn
   * @throws IOException if a file can't be written
   */
  public Plots.Result write(Path folder, String name) throws IOException {
    Plots.Result plots = Plots.write(folder, charts);
    List<Path> files = new ArrayList<>();
    files.add(Files.writeString(folder.resolve(name + ".md"), markdown(plots)));
    files.add(Files.writeString(folder.resolve(name + ".html"), html(plots)));
    files.addAll(plots.files());
    return new Plots.Result(files, plots.problems());
  }

  /** The charts that could be drawn. */
  private List<Chart> drawn(Plots.Result plots) {
    List<String> files = plots.files().stream().map(file -> file.getFileName().toString()).toList();
    return charts.stream().filter(chart -> files.contains(chart.name() + ".svg")).toList();
  }

  private String markdown(Plots.Result plots) {
    StringBuilder out = new StringBuilder("# ").append(Markdown.text(title)).append("\n\n");
    out.append(Markdown.text(setting)).append('\n');
    out.append(notes.isEmpty() ? "" : "\n");
    notes.forEach(note -> out.append("- ").append(Markdown.text(note)).append('\n'));
    drawn(plots)
        .forEach(
            chart ->
                out.append(
                    "\n![%s](%s.svg)\n".formatted(Markdown.text(chart.title()), chart.name())));
    plots.problems().forEach(why -> out.append('\n').append(Markdown.text(why)).append('\n'));
    for (DetailTable table : tables) {
      out.append("\n## ").append(Markdown.text(table.title())).append("\n\n");
      out.append(
          Markdown.table(
              table.headers().stream().map(Markdown::text).toList(),
              IntStream.range(0, table.headers().size()).mapToObj(table::ofNumbers).toList(),
              table.rows().stream()
                  .map(row -> row.stream().map(Markdown::text).toList())
                  .toList()));
      out.append('\n').append(Markdown.text(table.explanation())).append('\n');
    }
    out.append("\n## How to reproduce\n\n").append(Markdown.block("sh", command));
    return out.toString();
  }

  private String html(Plots.Result plots) {
    HtmlPage page = new HtmlPage(title).add("p", setting).list(notes);
    drawn(plots).forEach(chart -> page.figure(chart.name() + ".svg", chart.title()));
    page.list(plots.problems());
    for (DetailTable table : tables) {
      page.add("h2", table.title());
      page.table(
          cells(table, table.headers()),
          table.rows().stream().map(row -> cells(table, row)).toList());
      page.add("p", table.explanation());
    }
    return page.add("h2", "How to reproduce").add("pre", command).end();
  }

  private static List<Cell> cells(DetailTable table, List<String> texts) {
    return IntStream.range(0, texts.size())
        .mapToObj(i -> new Cell(texts.get(i), "", table.ofNumbers(i)))
        .toList();
  }
}
