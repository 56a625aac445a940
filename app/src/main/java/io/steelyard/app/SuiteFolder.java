package io.steelyard.app;

import io.steelyard.lab.record.Json;
import io.steelyard.reports.Headlines;
import io.steelyard.reports.MarkdownReport;
import io.steelyard.reports.SuiteReport;
import io.steelyard.reports.SweepTable;
import io.steelyard.reports.terminal.Format;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Where a suite's steps leave what they find: of a step NAME what it printed in {@code NAME.txt},
 * how it ended in {@code NAME.json}, and its run, if it has one, in a run directory.
 *
 * @param folder of the suite
 */
record SuiteFolder(Path folder) {
  /**
   * How a step ended.
   *
   * @param code its exit code
   * @param seconds how long it took
   */
  record Outcome(int code, double seconds) {
    /** Codes that another try would not change. */
    private static final List<Integer> SETTLED =
        List.of(ExitCode.FINE, ExitCode.REGRESSION, ExitCode.INCONCLUSIVE, ExitCode.PARITY);

    boolean isSettled() {
      return SETTLED.contains(code);
    }

    String words() {
      return switch (code) {
        case ExitCode.FINE -> "fine";
        case ExitCode.FAILED -> "failed";
        case ExitCode.USAGE -> "failed: it can't be asked so";
        case ExitCode.REGRESSION -> "regression";
        case ExitCode.INCONCLUSIVE -> "undecided";
        case ExitCode.PARITY -> "parity failure";
        default -> "failed with exit code " + code;
      };
    }
  }

  /** How a step ended, if it has. */
  Optional<Outcome> outcome(SuitePlan.Step step) throws IOException {
    Path file = file(step, ".json");
    return Files.exists(file)
        ? Optional.of(Json.read(Files.readString(file), Outcome.class))
        : Optional.empty();
  }

  private Path file(SuitePlan.Step step, String ending) {
    return folder.resolve(step.name() + ending);
  }

  /**
   * Runs a step, or goes on with it where an earlier call began its run.
   *
   * @param logged whether its notes go into {@code NAME.log}
   */
  Outcome run(SuitePlan.Step step, boolean logged) throws IOException, InterruptedException {
    Optional<Path> begun =
        step.isResumable() ? new TitledRuns(folder).begun(step.name()) : Optional.empty();
    List<String> arguments =
        new ArrayList<>(
            begun.map(run -> List.of("resume", run.toString())).orElseGet(() -> step.in(folder)));
    Engines.llamaCppHome.ifPresent(
        home -> arguments.addAll(List.of("--llamacpp-home", home.toString())));
    long start = System.nanoTime();
    int code =
        SteelyardProcess.run(
            arguments,
            file(step, ".txt"),
            logged ? Optional.of(file(step, ".log")) : Optional.empty());
    Outcome outcome = new Outcome(code, (System.nanoTime() - start) / 1e9);
    Path unfinished = Files.writeString(file(step, ".json.part"), Json.pretty(outcome));
    Files.move(
        unfinished,
        file(step, ".json"),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
    return outcome;
  }

  /**
   * All steps in one report.
   *
   * @param wanted which steps this call was to run
   */
  SuiteReport report(SuitePlan plan, String setting, Predicate<SuitePlan.Step> wanted)
      throws IOException {
    List<SuiteReport.Step> steps = new ArrayList<>();
    List<SweepTable.Study> studies = new ArrayList<>();
    for (SuitePlan.Step step : plan.steps()) {
      Optional<Outcome> outcome = outcome(step);
      if (outcome.isEmpty() || !step.runs()) {
        steps.add(
            SuiteReport.Step.notRun(
                step.name(),
                step.runs() && !wanted.test(step) ? "it was not asked for" : step.obstacle()));
        continue;
      }
      List<SweepTable.Study> found = studies(step);
      studies.addAll(found);
      List<String> sentences = new ArrayList<>(reason(step, outcome.get()));
      found.forEach(study -> sentences.addAll(Headlines.of(study.summary(), DesignOptions.MARGIN)));
      steps.add(
          new SuiteReport.Step(
              step.name(),
              CommandText.of(step.in(folder)),
              outcome.get().words(),
              Format.duration(Math.round(outcome.get().seconds() * 1e9)),
              link(step),
              sentences,
              found.stream().anyMatch(study -> !study.summary().comparisons().isEmpty())
                  ? ""
                  : text(step)));
    }
    return new SuiteReport(plan.request().length().title(), setting, steps, studies);
  }

  /** The last thing that a step said which did not end well, if its notes were kept. */
  private List<String> reason(SuitePlan.Step step, Outcome outcome) throws IOException {
    Path log = file(step, ".log");
    return outcome.code() == ExitCode.FINE || Files.notExists(log)
        ? List.of()
        : text(log).lines().filter(line -> !line.isBlank()).reduce((_, last) -> last).stream()
            .toList();
  }

  private List<SweepTable.Study> studies(SuitePlan.Step step) throws IOException {
    List<SweepTable.Study> studies = new ArrayList<>();
    if (step.arguments().getFirst().equals(SuitePlan.SWEEP)) {
      for (SweepPlan.Point point : SweepPlan.read(file(step, ".yaml")).points()) {
        point.study(folder.resolve(step.name())).ifPresent(studies::add);
      }
    } else if (step.isResumable()) {
      new TitledRuns(folder)
          .finished(step.name())
          .map(TitledRuns::summary)
          .map(summary -> new SweepTable.Study(summary.model(), Map.of(), summary))
          .ifPresent(studies::add);
    }
    return studies;
  }

  /** The page to read on, seen from the suite's report. */
  private String link(SuitePlan.Step step) throws IOException {
    Path page =
        step.arguments().getFirst().equals(SuitePlan.SWEEP)
            ? file(step, "").resolve(SweepCommand.TABLE)
            : new TitledRuns(folder)
                .finished(step.name())
                .map(run -> run.resolve(MarkdownReport.FILE))
                .orElse(file(step, ".txt"));
    return Files.exists(page) ? folder.relativize(page).toString() : "";
  }

  private String text(SuitePlan.Step step) throws IOException {
    return text(file(step, ".txt"));
  }

  /** What a process wrote, which need not be UTF-8 throughout. */
  private static String text(Path file) throws IOException {
    return new String(Files.readAllBytes(file), StandardCharsets.UTF_8).stripTrailing();
  }
}
