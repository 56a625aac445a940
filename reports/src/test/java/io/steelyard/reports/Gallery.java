package io.steelyard.reports;

import io.steelyard.reports.terminal.Style;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Writes every output of the sample runs into a directory, to be looked at: {@code java … Gallery
 * DIRECTORY}. A change of the looks should be judged with eyes before the golden files follow.
 */
final class Gallery {

  private Gallery() {}

  public static void main(String[] arguments) throws IOException {
    Path root = Path.of(arguments[0]);
    Map<String, ReportInput> runs =
        Map.of(
            "typical", SampleRun.typical(),
            "awkward", SampleRun.awkward(),
            "one", SampleRun.grid(1, 2, 1),
            "many", SampleRun.grid(8, 5, 12),
            "long", SampleRun.grid(2, 2, 200));
    for (Map.Entry<String, ReportInput> run : runs.entrySet()) {
      Path directory = root.resolve(run.getKey());
      Plots.Result result = MarkdownReport.write(directory, run.getValue());
      StringBuilder text = new StringBuilder();
      for (int width : List.of(60, 80, 120)) {
        Style style = new Style(width, false, true);
        text.append(ComparisonTable.render(run.getValue().summary(), style)).append('\n');
        text.append(ParityTable.render(run.getValue().summary(), style)).append('\n');
        text.append(FairnessTable.render(run.getValue().summary(), style)).append("\n\n");
      }
      Files.writeString(directory.resolve("tables.txt"), text);
      System.out.println(result);
    }
    for (int trend : List.of(3, 30, 300)) {
      System.out.println(Plots.write(root.resolve("trend" + trend), TrendTextTest.typical(trend)));
    }
  }
}
