package io.steelyard.app;

import io.steelyard.lab.record.Json;
import io.steelyard.reports.DetailTable;
import io.steelyard.reports.Plots;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "plot",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Draws what a run of 'attention range' or 'attention impact' measured over the length.",
      "",
      "Time, scratch memory and speed-up; how each variant's time grows with the length, and the"
          + " lengths at which one overtakes another, with intervals over blocks. A run that was"
          + " interrupted is drawn as far as it got."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard attention plot runs/2026-01-31_120000-attention-document",
      "  ./steelyard attention plot 12 --out growth"
    })
final class AttentionPlotCommand implements Callable<Integer> {
  @Spec CommandSpec spec;

  @Parameters(
      paramLabel = "RUN",
      description =
          "a run's folder or its name, a JSON file that it wrote, or its number in the history")
  String run;

  @Option(
      names = "--runs",
      paramLabel = "DIR",
      defaultValue = "runs",
      description = "where run directories lie")
  Path runs;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description =
          "where the report and its plots are written (default: plot, in the run's folder)")
  Path out;

  @Option(names = "--json", description = "print one JSON document on stdout instead of tables")
  boolean json;

  @Mixin HistoryPlace history;

  @Override
  public Integer call() throws IOException {
    Console console = new Console();
    AttentionRuns.Found found = new AttentionRuns(runs, history).find(run);
    AttentionPlot.Document document = new AttentionPlot(found.curves(), found.notes()).document();
    Path folder = out == null ? found.beside().resolve(AttentionPlot.FILE) : out;
    Files.createDirectories(folder);
    Files.writeString(folder.resolve(AttentionPlot.FILE + ".json"), Json.pretty(document) + "\n");
    Plots.Result written =
        AttentionPlot.page(document, CommandText.of(spec)).write(folder, AttentionPlot.FILE);
    if (json) {
      console.result(Json.pretty(document));
    } else {
      console.result(document.title());
      console.blank();
      for (DetailTable table : AttentionPlot.tables(document)) {
        console.table(table.render(console.style()));
        console.blank();
      }
      document.notes().forEach(console::result);
      console.result("Report: " + written.files().getFirst());
    }
    written.problems().forEach(console::note);
    return ExitCode.FINE;
  }
}
