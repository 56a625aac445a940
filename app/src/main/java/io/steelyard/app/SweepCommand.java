package io.steelyard.app;

import io.steelyard.lab.RunException;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.Summary;
import io.steelyard.reports.SweepTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
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
    List<SweepTable.Study> studies = new ArrayList<>();
    for (int i = 0; i < points.size(); i++) {
      SweepPlan.Point point = points.get(i);
      console.note("study %d of %d: %s".formatted(i + 1, points.size(), point.key()));
      Optional<Path> run = run(folder, point);
      if (run.filter(SweepCommand::finished).isEmpty()) {
        int ended = study(plan, point, folder, run);
        code = code == ExitCode.FINE ? ended : code;
        run = run(folder, point);
      }
      Optional<Path> done = run.filter(SweepCommand::finished);
      if (done.isPresent()) {
        studies.add(
            new SweepTable.Study(
                point.model(), point.values(), Json.read(read(done.get()), Summary.class)));
      }
    }
    Files.writeString(folder.resolve("sweep.md"), SweepTable.markdown(studies));
    console.blank();
    if (json) {
      console.result(Json.pretty(studies));
    } else {
      console.table(SweepTable.render(studies, console.style()));
    }
    console.note("Table: " + folder.resolve("sweep.md"));
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

  /** The run of a point, if one was begun. */
  private static Optional<Path> run(Path folder, SweepPlan.Point point) throws IOException {
    String ending = "-" + point.key();
    try (Stream<Path> runs = Files.list(folder)) {
      return runs.filter(run -> run.getFileName().toString().endsWith(ending))
          .filter(run -> Files.exists(run.resolve("plan.json")))
          .max(Path::compareTo);
    }
  }

  private static boolean finished(Path run) {
    return Files.exists(run.resolve("summary.json"));
  }

  private static String read(Path run) {
    try {
      return Files.readString(run.resolve("summary.json"));
    } catch (IOException e) {
      throw new RunException("can't read %s: %s".formatted(run, RunException.reason(e)), e);
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
