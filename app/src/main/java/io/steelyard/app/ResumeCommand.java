package io.steelyard.app;

import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "resume",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = "Goes on with a run that was interrupted; finished trials are kept.",
    footer = {"", "Example:", "  ./steelyard resume runs/2026-01-31_120000-compare"})
final class ResumeCommand implements Callable<Integer> {
  @Parameters(paramLabel = "RUN", description = "a run directory, or its name")
  String run;

  @Option(
      names = "--runs",
      paramLabel = "DIR",
      defaultValue = "runs",
      description = "where run directories lie")
  Path runs;

  @Option(names = "--json", description = "print summary.json on stdout instead of the tables")
  boolean json;

  @Override
  public Integer call() throws Exception {
    return new StudyConsole(new Console(), json).resume(runs, run);
  }
}
