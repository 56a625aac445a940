package io.steelyard.app;

import io.steelyard.lab.RunException;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.record.Summary;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.lab.study.Study;
import io.steelyard.reports.Headlines;
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
 * @param stored the runs that stand for the older commit, where it is not measured now
 * @param gate what may not happen, beside getting slower by more than the margin
 */
record Regression(
    String base,
    String head,
    Map<String, List<String>> workers,
    Optional<String> junit,
    Optional<String> markdown,
    boolean annotations,
    Optional<StoredRuns> stored,
    Optional<Gate> gate) {
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
  int judge(StudyRun.Outcome outcome, RunDirectory directory, Console console) {
    Study study = directory.plan();
    Summary summary =
        stored
            .map(runs -> runs.compared(study, outcome.summary(), directory.path()))
            .orElse(outcome.summary());
    RegressionReport report =
        new RegressionReport(
            summary,
            study.design().margin(),
            base,
            head,
            gate.map(g -> g.tolerated(study)).orElse(List.of()),
            gate.map(g -> g.broken(summary, study.baseline())).orElse(List.of()));
    junit.ifPresent(file -> write(file, report.junit(), StandardOpenOption.TRUNCATE_EXISTING));
    markdown.ifPresent(file -> write(file, report.markdown(), StandardOpenOption.APPEND));
    if (annotations) {
      report.annotations().forEach(console::result);
    }
    stored.ifPresent(_ -> Headlines.of(summary, study.design().margin()).forEach(console::result));
    console.note(report.verdict());
    if (report.isRegression()) {
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
