package io.steelyard.app;

import io.steelyard.lab.environment.Environment;
import io.steelyard.lab.run.Json;
import io.steelyard.lab.run.RunDirectory;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.EngineRegistry;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.reports.ComparisonTable;
import io.steelyard.reports.FairnessTable;
import io.steelyard.reports.Headlines;
import io.steelyard.reports.ParityTable;
import io.steelyard.reports.terminal.Style;
import java.nio.file.Path;

/** Runs a study with a person watching, and prints what came of it. */
final class StudyConsole {
  private final Console console;
  private final boolean json;

  private final Printer printer;

  /** Prints what came of a run. */
  @FunctionalInterface
  interface Printer {
    void print(Console console, RunDirectory directory, StudyRun.Outcome outcome);
  }

  /** Prints the tables of a comparison. */
  StudyConsole(Console console, boolean json) {
    this(console, json, StudyConsole::printComparison);
  }

  StudyConsole(Console console, boolean json, Printer printer) {
    this.console = console;
    this.json = json;
    this.printer = printer;
  }

  /** Begins a new run. */
  int begin(Path runs, String title, Study study) throws WorkerException {
    try (RunDirectory directory = RunDirectory.create(runs, title, study)) {
      directory.writeEnvironment(Environment.read(Home.path()));
      console.note(
          "%s: %s on %s; run %s (if interrupted: ./steelyard resume %s)"
              .formatted(
                  title,
                  String.join(", ", study.engines().keySet()),
                  study.model().name(),
                  directory.path(),
                  directory.path()));
      console.note(Expectation.of(study, Home.cache()));
      return run(directory);
    }
  }

  /** Goes on with an earlier run. */
  int resume(Path runs, String run) throws WorkerException {
    try (RunDirectory directory = RunDirectory.open(runs, run)) {
      return run(directory);
    }
  }

  private int run(RunDirectory directory) throws WorkerException {
    StudyRun.Outcome outcome;
    try (Console.Watching watching = console.watch()) {
      outcome = new StudyRun(directory, EngineRegistry.system(), Home.cache(), watching).run();
    }
    new RunReports(directory, outcome).write(console);
    if (json) {
      console.result(Json.pretty(outcome.summary()));
    } else {
      if (!outcome.parity()) {
        console.result(ParityTable.render(outcome.summary(), console.style()));
        console.result(
            "Parity failed: nothing is printed for an engine that computes something else.");
      }
      if (!outcome.blocks().all().isEmpty()) {
        printer.print(console, directory, outcome);
      }
    }
    return outcome.parity() ? ExitCode.FINE : ExitCode.PARITY;
  }

  private static void printComparison(
      Console console, RunDirectory directory, StudyRun.Outcome outcome) {
    Style style = console.style();
    console.result(ComparisonTable.render(outcome.summary(), style));
    console.blank();
    if (outcome.parity()) {
      console.result(ParityTable.render(outcome.summary(), style));
      console.blank();
    }
    console.result(FairnessTable.render(outcome.summary(), style));
    console.blank();
    Headlines.of(outcome.summary(), directory.plan().design().margin()).forEach(console::result);
    console.blank();
    console.result("Report: " + directory.path().resolve("report.md"));
  }
}
