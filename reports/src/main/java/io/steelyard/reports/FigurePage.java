package io.steelyard.reports;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A page of tables and figures, of what is no comparison of engines.
 *
 * @param title of the page
 * @param setting what was measured on what, in a line
 * @param tables in their order; figures stand behind the first
 * @param command that makes it again
 */
public record FigurePage(
    String title,
    String setting,
    List<DetailTable> tables,
    List<? extends Chart> charts,
    String command) {
  public FigurePage {
    tables = List.copyOf(tables);
    charts = List.copyOf(charts);
  }

  /**
   * Writes {@code report.md} and its figures into a directory.
   *
   * @throws IOException if a file can't be written
   */
  public Plots.Result write(Path directory) throws IOException {
    Plots.Result plots = Plots.write(directory, charts);
    Path report = directory.resolve(MarkdownReport.FILE);
    Files.writeString(report, markdown(plots.files(), plots.problems()));
    List<Path> files = new ArrayList<>(plots.files());
    files.addFirst(report);
    return new Plots.Result(files, plots.problems());
  }

  private String markdown(List<Path> files, List<String> problems) {
    StringBuilder out = new StringBuilder("# ").append(Markdown.text(title)).append("\n\n");
    out.append(Markdown.text(setting)).append('\n');
    for (int i = 0; i < tables.size(); i++) {
      table(out, tables.get(i));
      if (i == 0) {
        charts.forEach(chart -> figure(out, files, chart.name(), chart.title()));
        problems.forEach(problem -> out.append('\n').append(Markdown.text(problem)).append('\n'));
      }
    }
    return out.append("\n## To make it again\n\n").append(Markdown.block("sh", command)).toString();
  }

  private static void table(StringBuilder out, DetailTable table) {
    out.append("\n## ").append(Markdown.text(table.title())).append("\n\n");
    out.append(
        Markdown.table(
            table.headers().stream().map(Markdown::text).toList(),
            IntStream.range(0, table.headers().size()).mapToObj(table::ofNumbers).toList(),
            table.rows().stream().map(row -> row.stream().map(Markdown::text).toList()).toList()));
    out.append('\n').append(Markdown.text(table.explanation())).append('\n');
  }

  private static void figure(StringBuilder out, List<Path> files, String name, String caption) {
    String file = name + ".svg";
    if (files.stream().anyMatch(path -> path.getFileName().toString().equals(file))) {
      out.append("\n![").append(Markdown.text(caption)).append("](").append(file).append(")\n");
    }
  }
}
