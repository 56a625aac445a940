package io.steelyard.app;

import io.steelyard.lab.RunException;
import io.steelyard.lab.record.Json;
import io.steelyard.reports.SweepTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "sweep",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Runs a matrix of comparisons: models × prompt and generation lengths × depths × threads × types"
          + " of the KV cache.",
      "",
      "The file is YAML; what is a list in it is gone through: models, prompt, gen, depth, threads, kv."
          + " engines and metrics are lists that each comparison has as a whole; baseline, budget, forks,"
          + " trials, precision, margin, seed and quick are single values. The same command goes on with a"
          + " sweep that was interrupted; what is finished is not run again."
    },
    footer = {"", "Example:", "  ./steelyard sweep docs/examples/sweep.yaml"})
final class SweepCommand implements Callable<Integer> {
  /** The table of all studies, beside them. */
  static final String TABLE = "sweep.md";

  private static final String PLAN = "sweep.yaml";

  @Parameters(paramLabel = "FILE", description = "the matrix")
  Path file;

  @Option(
      names = "--into",
      paramLabel = "DIR",
      description = "where its runs lie (default: runs/sweep-NAME, by the file's name)")
  Path into;

  @Option(names = "--json", description = "print all comparisons as JSON")
  boolean json;

  @Override
  public Integer call() throws Exception {
    SweepPlan plan = SweepPlan.read(file);
    List<SweepPlan.Point> points = plan.points();
    Path folder = into != null ? into : Path.of("runs", "sweep-" + name(file));
    keep(folder);
    Console console = new Console();
    int code = ExitCode.FINE;
    TitledRuns runs = new TitledRuns(folder);
    List<SweepTable.Study> studies = new ArrayList<>();
    for (int i = 0; i < points.size(); i++) {
      SweepPlan.Point point = points.get(i);
      console.note("study %d of %d: %s".formatted(i + 1, points.size(), point.key()));
      if (runs.finished(point.key()).isEmpty()) {
        int ended = study(plan, point, folder, runs.begun(point.key()));
        code = code == ExitCode.FINE ? ended : code;
      }
      point.study(folder).ifPresent(studies::add);
    }
    Files.writeString(folder.resolve(TABLE), SweepTable.markdown(studies));
    console.blank();
    if (json) {
      console.result(Json.pretty(studies));
    } else {
      console.table(SweepTable.render(studies, console.style()));
    }
    console.note("Table: " + folder.resolve(TABLE));
    return code;
  }

  private static String name(Path file) {
    return file.getFileName().toString().replaceFirst("\\.ya?ml$", "");
  }

  /** A folder holds one sweep: another one would go on with what this one began. */
  private void keep(Path folder) throws IOException {
    Path kept = folder.resolve(PLAN);
    String text = Files.readString(file);
    if (Files.notExists(kept)) {
      Files.createDirectories(folder);
      Files.writeString(kept, text);
    } else if (!Files.readString(kept).equals(text)) {
      throw new RunException(
          "%s holds a sweep by another plan (see its %s): name another folder with --into, or delete it"
              .formatted(folder, PLAN));
    }
  }

  /** Runs a study, or goes on with it, as its own command line would. */
  private static int study(
      SweepPlan plan, SweepPlan.Point point, Path folder, Optional<Path> begun) {
    List<String> arguments = new ArrayList<>();
    if (begun.isPresent()) {
      arguments.addAll(List.of("resume", begun.get().toString()));
    } else {
      arguments.add("compare");
      arguments.addAll(plan.arguments(point, folder));
      arguments.addAll(List.of("--title", point.key()));
    }
    CommandLine line = Main.commandLine();
    return line.execute(arguments.toArray(String[]::new));
  }
}
