package io.steelyard.app;

import io.steelyard.lab.RunException;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.reports.RegressionReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a run of {@code regress} needs beside its study, kept with it so that it can be resumed.
 *
 * @param base the older commit, as reports name it
 * @param head the newer commit, as reports name it
 * @param workers by label, the command that starts a worker
 * @param junit the file to write JUnit's XML into
 * @param markdown the file to append a summary to
 * @param annotations whether GitHub's annotations are printed
 */
record Regression(
    String base,
    String head,
    Map<String, List<String>> workers,
    Optional<String> junit,
    Optional<String> markdown,
    boolean annotations) {
  private static final String FILE = "regression.json";

  /** That of a run directory, if it is one of {@code regress}. */
  static Optional<Regression> of(RunDirectory directory) {
    return Files.exists(directory.path().resolve(FILE))
        ? Optional.of(directory.read(FILE, Regression.class))
        : Optional.empty();
  }

  void keep(RunDirectory directory) {
    directory.write(FILE, Json.pretty(this));
  }

  /** Writes what was asked for, says the verdict, and gives the exit code. */
  int judge(StudyRun.Outcome outcome, double margin, Console console) {
    RegressionReport report = new RegressionReport(outcome.summary(), margin, base, head);
    junit.ifPresent(file -> write(file, report.junit(), StandardOpenOption.TRUNCATE_EXISTING));
    markdown.ifPresent(file -> write(file, report.markdown(), StandardOpenOption.APPEND));
    if (annotations) {
      report.annotations().forEach(console::result);
    }
    console.note(report.verdict());
    if (!report.regressions().isEmpty()) {
      return ExitCode.REGRESSION;
    }
    return report.undecided().isEmpty() ? ExitCode.FINE : ExitCode.INCONCLUSIVE;
  }

  private static void write(String file, String text, StandardOpenOption how) {
    try {
      Files.writeString(
          Path.of(file), text, StandardOpenOption.CREATE, StandardOpenOption.WRITE, how);
    } catch (IOException e) {
      throw new RunException("can't write %s: %s".formatted(file, RunException.reason(e)), e);
    }
  }
}
