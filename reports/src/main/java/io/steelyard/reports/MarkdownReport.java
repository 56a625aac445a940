package io.steelyard.reports;

import io.steelyard.lab.record.Summary;
import io.steelyard.lab.record.Summary.FairnessLine;
import io.steelyard.lab.record.Summary.Parity;
import io.steelyard.reports.terminal.Format;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** {@code report.md}: a run as a page to read, with its figures beside it. */
public final class MarkdownReport {

  /** The report's file name. */
  public static final String FILE = "report.md";

  private final ReportInput input;
  private final Summary summary;
  private final Plots.Result plots;
  private final StringBuilder out = new StringBuilder();

  private MarkdownReport(ReportInput input, Plots.Result plots) {
    this.input = input;
    this.summary = input.summary();
    this.plots = plots;
  }

  /**
   * Writes the report and its figures into the directory, which is made where it is missing.
   *
   * @return the files written, {@value #FILE} first, and what could not be drawn
   * @throws IOException if a file can't be written
   */
  public static Plots.Result write(Path directory, ReportInput input) throws IOException {
    Plots.Result plots = Plots.write(directory, input);
    Path report = directory.resolve(FILE);
    Files.writeString(report, render(input, plots));
    List<Path> files = new ArrayList<>(List.of(report));
    files.addAll(plots.files());
    return new Plots.Result(files, plots.problems());
  }

  /** The page as text; it refers to the figures by their file names. */
  static String render(ReportInput input, Plots.Result plots) {
    return new MarkdownReport(input, plots).render();
  }

  private String render() {
    out.append("# ").append(Markdown.text(summary.model())).append("\n\n");
    if (!input.setting().isEmpty()) {
      out.append(Markdown.text(input.setting())).append("\n\n");
    }
    headlines();
    notes();
    results();
    quality();
    input.charts().forEach(chart -> figure(chart.name(), chart.title()));
    figure(Plots.RATIOS, "Ratios to the baseline with 95 % intervals");
    figure(Plots.SAMPLES, "Every sample by block, warm-up lighter");
    plots
        .problems()
        .forEach(problem -> out.append('\n').append(Markdown.text(problem)).append('\n'));
    details();
    parity();
    fairness();
    formulas();
    environment();
    reproduce();
    return out.toString();
  }

  private void headlines() {
    List<String> sentences = Headlines.of(summary, input.margin());
    if (sentences.isEmpty()) {
      out.append("Nothing was compared in this run.\n");
    }
    sentences.forEach(s -> out.append("- ").append(Markdown.text(s)).append('\n'));
    out.append("\nA change under ")
        .append(Format.compact(100 * input.margin()))
        .append(" % counts as none. Run ")
        .append(Markdown.code(summary.run()))
        .append(".\n");
  }

  private void notes() {
    List<String> notes = new ArrayList<>(input.notes());
    String disturbed = ComparisonTable.disturbed(summary);
    if (!disturbed.isEmpty()) {
      notes.add(disturbed + countedThough());
    }
    if (!notes.isEmpty()) {
      out.append("\n**To bear in mind**\n\n");
      notes.forEach(note -> out.append("- ").append(Markdown.text(note)).append('\n'));
    }
  }

  /** Which blocks count although the machine was disturbed: those that the plot shades. */
  private String countedThough() {
    List<String> blocks =
        input.series().stream()
            .flatMap(series -> series.blocks().stream())
            .filter(Series.Block::disturbed)
            .map(Series.Block::number)
            .distinct()
            .sorted()
            .map(Format::count)
            .toList();
    if (blocks.isEmpty()) {
      return input.series().isEmpty() ? "" : " Every block shown here is undisturbed.";
    }
    return (blocks.size() == 1 ? " That is so of block " : " That is so of blocks ")
        + String.join(", ", blocks)
        + ", shaded in the plot.";
  }

  private void details() {
    for (DetailTable table : input.details()) {
      heading(table.title());
      out.append(
          Markdown.table(
              table.headers().stream().map(Markdown::text).toList(),
              IntStream.range(0, table.headers().size()).mapToObj(table::ofNumbers).toList(),
              table.rows().stream()
                  .map(row -> row.stream().map(Markdown::text).toList())
                  .toList()));
      out.append('\n').append(Markdown.text(table.explanation())).append('\n');
      randomWeights();
    }
  }

  private void results() {
    heading("Results");
    boolean compares = Rows.compares(summary);
    List<String> headers = new ArrayList<>(List.of("metric", "engine", "value"));
    List<Boolean> right = new ArrayList<>(List.of(false, false, true));
    boolean shares = Rows.hasShares(summary);
    if (shares) {
      headers.add("of limit");
      right.add(true);
    }
    if (compares) {
      headers.addAll(List.of("ratio", "verdict"));
      right.addAll(List.of(true, false));
    }
    headers.add("notes");
    right.add(false);
    List<List<String>> rows = new ArrayList<>();
    for (Rows.Group group : Rows.of(summary)) {
      String direction = group.higherIsBetter() ? " ↑" : " ↓";
      String metric = "**" + Markdown.text(group.metric()) + "**" + direction;
      for (Rows.Row row : group.rows()) {
        List<String> cells = new ArrayList<>();
        cells.add(metric);
        cells.add(Markdown.text(row.label()));
        cells.add(row.value().text("") + (row.unit().isEmpty() ? "" : " " + row.unit()));
        if (shares) {
          cells.add(row.share());
        }
        if (compares) {
          cells.add(
              row.baseline()
                  ? "1×"
                  : row.ratio().isMeasured() ? row.ratio().text("×") : row.ratio().number());
          cells.add(row.verdict());
        }
        cells.add(Markdown.text(String.join("; ", row.notes())));
        rows.add(cells);
        metric = "";
      }
    }
    out.append(Markdown.table(headers, right, rows));
    out.append(
        "\n95 % intervals over forks. ↑ more is better, ↓ less is better. A ratio above 1× is"
            + " better than the baseline, whatever the unit.\n");
    if (shares && !input.limits().isEmpty()) {
      out.append('\n').append(Markdown.text(input.limits())).append('\n');
    }
    randomWeights();
  }

  private void quality() {
    if (summary.quality().isEmpty()) {
      return;
    }
    heading("Quality against speed");
    List<String> headers = QualityTable.headers(summary);
    List<Boolean> right = new ArrayList<>(Collections.nCopies(headers.size(), true));
    right.set(0, false);
    out.append(
        Markdown.table(
            headers,
            right,
            QualityTable.rows(summary).stream()
                .map(row -> row.stream().map(Markdown::text).toList())
                .toList()));
    out.append('\n').append(QualityTable.legend(summary)).append('\n');
    randomWeights();
    figure(Plots.QUALITY, "Speed by what the precision loses");
  }

  private void figure(String name, String caption) {
    plots.files().stream()
        .map(file -> file.getFileName().toString())
        .filter(file -> file.equals(name + ".svg"))
        .forEach(file -> out.append("\n![" + caption + "](" + file + ")\n"));
  }

  private void parity() {
    if (summary.parity().isEmpty()) {
      return;
    }
    heading("Parity");
    List<String> headers = new ArrayList<>(ParityTable.HEADERS);
    headers.replaceAll(Markdown::text);
    headers.add("notes");
    List<List<String>> rows = new ArrayList<>();
    for (Parity parity : summary.parity()) {
      List<String> cells = new ArrayList<>(ParityTable.texts(summary, parity));
      cells.replaceAll(Markdown::text);
      cells.add(parity.note() == null ? "" : Markdown.text(parity.note()));
      rows.add(cells);
    }
    out.append(
        Markdown.table(
            headers,
            List.of(false, false, true, true, true, true, true, true, false, false),
            rows));
    out.append(
        "\nAgainst the scalar reference, teacher-forced: mean and 99th percentile of the"
            + " Kullback-Leibler divergence over positions (nats), share of positions with the"
            + " same most likely token, largest difference of a logit, smallest bound on the mean"
            + " divergence that would pass.\n");
    randomWeights();
  }

  private void fairness() {
    if (summary.fairness().isEmpty()) {
      return;
    }
    heading("Fairness");
    List<String> labels = FairnessTable.labels(summary);
    List<String> headers =
        Stream.of(List.of(""), labels.stream().map(Markdown::text).toList(), List.of("state"))
            .flatMap(List::stream)
            .toList();
    List<List<String>> rows = new ArrayList<>();
    for (FairnessLine line : summary.fairness()) {
      List<String> cells = new ArrayList<>();
      cells.add(Markdown.text(line.line()));
      labels.forEach(label -> cells.add(Markdown.text(FairnessTable.value(line, label))));
      cells.add(line.state().equals("different") ? "**different**" : line.state());
      rows.add(cells);
    }
    out.append(Markdown.table(headers, Collections.nCopies(headers.size(), false), rows));
    randomWeights();
  }

  private void formulas() {
    if (input.formulas().isEmpty()) {
      return;
    }
    heading("How the metrics are defined");
    input
        .formulas()
        .forEach(
            (metric, formula) ->
                out.append("- **")
                    .append(Markdown.text(metric))
                    .append("**: ")
                    .append(Markdown.text(formula))
                    .append('\n'));
  }

  private void environment() {
    if (input.environment().isEmpty()) {
      return;
    }
    heading("Environment");
    // Folded: it is looked up, not read. GitHub renders the Markdown inside after an empty line.
    out.append("<details>\n<summary>The machine and the software, in full</summary>\n\n");
    nested(input.environment(), "");
    out.append("\n</details>\n");
  }

  private void nested(Map<?, ?> topic, String indent) {
    topic.forEach(
        (name, value) -> {
          out.append(indent).append("- ").append(Markdown.text(String.valueOf(name))).append(':');
          if (value instanceof Map<?, ?> map) {
            out.append('\n');
            nested(map, indent + "  ");
          } else {
            out.append(' ').append(Markdown.text(plain(value))).append('\n');
          }
        });
  }

  private static String plain(Object value) {
    return value instanceof Collection<?> many
        ? many.stream().map(MarkdownReport::plain).collect(Collectors.joining(", "))
        : String.valueOf(value).replaceAll("\\s*\\R\\s*", " ");
  }

  private void reproduce() {
    heading("How to reproduce");
    out.append(Markdown.block("sh", input.commandLine()));
    out.append(
        "\nEvery sample is in `trials.jsonl`, the plan in `plan.json`, the machine in"
            + " `environment.json`; all figures here are derived from them.\n");
  }

  private void randomWeights() {
    if (Rows.randomWeights(summary)) {
      out.append('\n').append(ComparisonTable.RANDOM_WEIGHTS).append(".\n");
    }
  }

  private void heading(String text) {
    out.append("\n## ").append(text).append("\n\n");
  }
}
