package io.steelyard.app;

import io.steelyard.engines.InstallException;
import io.steelyard.engines.llamacpp.LlamaCppInstaller;
import io.steelyard.history.HistoryException;
import io.steelyard.history.HistoryStore;
import io.steelyard.lab.RunException;
import io.steelyard.lab.RunListener;
import io.steelyard.lab.environment.Environment;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.lab.run.BenchmarkRun;
import io.steelyard.lab.run.CommandRun;
import io.steelyard.lab.run.StudyRun;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.EngineRegistry;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.models.catalogue.ResolvedModel;
import io.steelyard.reports.ComparisonTable;
import io.steelyard.reports.FairnessTable;
import io.steelyard.reports.Headlines;
import io.steelyard.reports.ParityTable;
import io.steelyard.reports.QualityTable;
import io.steelyard.reports.terminal.Style;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Runs a study with a person watching, and prints what came of it. */
final class StudyConsole {
  /** An engine with this option is told where its libraries are: nothing is installed for it. */
  private static final String LLAMACPP_HOME = "env." + LlamaCppInstaller.HOME;

  /** Metrics that are shares of the roofline. */
  private static final List<String> WITH_SHARES = List.of("prefill", "decode");

  /** Cells that are named before a run which aren't measured in it. */
  private static final int MOST_LEFT_OUT = 6;

  private final Console console;
  private final Optional<Consumer<Object>> documents;
  private final Printer printer;

  /** Prints what came of a run. */
  @FunctionalInterface
  interface Printer {
    void print(Console console, RunDirectory directory, StudyRun.Outcome outcome);

    /** What is printed as JSON instead. */
    default Object document(RunDirectory directory, StudyRun.Outcome outcome) {
      return outcome.summary();
    }
  }

  /** Prints the tables of a comparison. */
  StudyConsole(Console console, boolean json) {
    this(console, json, StudyConsole::printComparison);
  }

  StudyConsole(Console console, boolean json, Printer printer) {
    this(
        console,
        Optional.<Consumer<Object>>of(document -> console.result(Json.pretty(document)))
            .filter(_ -> json),
        printer);
  }

  /**
   * Prints nothing of what came of a run.
   *
   * @param documents hears it instead
   */
  StudyConsole(Console console, Consumer<Object> documents, Printer printer) {
    this(console, Optional.of(documents), printer);
  }

  private StudyConsole(Console console, Optional<Consumer<Object>> documents, Printer printer) {
    this.console = console;
    this.documents = documents;
    this.printer = printer;
  }

  /** Begins a new run. */
  int begin(Path runs, String title, Study study) throws WorkerException {
    return begin(runs, title, study, Optional.empty());
  }

  /**
   * Begins a new run with something in its directory that was found before.
   *
   * @param found puts it there
   */
  int begin(Path runs, String title, Study study, Consumer<RunDirectory> found)
      throws WorkerException {
    return begin(runs, title, study, Optional.empty(), found);
  }

  /** Begins a new run, of two commits where a regression is given. */
  int begin(Path runs, String title, Study study, Optional<Regression> regression)
      throws WorkerException {
    return begin(runs, title, study, regression, _ -> {});
  }

  private int begin(
      Path runs,
      String title,
      Study study,
      Optional<Regression> regression,
      Consumer<RunDirectory> found)
      throws WorkerException {
    try (RunDirectory directory = RunDirectory.create(runs, title, study)) {
      found.accept(directory);
      regression.ifPresent(commits -> commits.keep(directory));
      console.note(
          "%s: %s on %s; run %s (if interrupted: ./steelyard resume %s)"
              .formatted(
                  title,
                  String.join(", ", study.engines().keySet()),
                  study.model().name(),
                  directory.path(),
                  directory.path()));
      noteLeftOut(study);
      if (study.hasModel()) {
        console.note(Expectation.of(study, Home.cache()));
      }
      return run(directory);
    }
  }

  private void noteLeftOut(Study study) {
    List<String> why = study.leftOut().orElse(Map.of()).values().stream().sorted().toList();
    why.stream().limit(MOST_LEFT_OUT).forEach(each -> console.note("left out: " + each));
    if (why.size() > MOST_LEFT_OUT) {
      console.note("left out: %d more, named in the report".formatted(why.size() - MOST_LEFT_OUT));
    }
  }

  /** Goes on with an earlier run, if everything is as it was then. */
  int resume(Path runs, String run) throws WorkerException, InstallException, InterruptedException {
    try (RunDirectory directory = RunDirectory.open(runs, run)) {
      Study plan = directory.plan();
      if (plan.hasModel()) {
        checkModel(plan.model());
        plan.precisions()
            .ifPresent(precisions -> precisions.files().values().forEach(this::checkModel));
      }
      Map<String, List<String>> workers = workers(directory);
      var _ =
          Engines.prepare(
              plan.engines().values().stream()
                  .filter(engine -> !workers.containsKey(engine.name()) && plan.hasModel())
                  .filter(engine -> !engine.options().containsKey(LLAMACPP_HOME))
                  .map(Study.Engine::spec)
                  .toList(),
              console);
      return run(directory);
    }
  }

  /** What parity and earlier blocks found holds of the very file that the run began with. */
  private void checkModel(Study.Model model) {
    ResolvedModel found = Models.resolve(model.file(), console);
    if (!found.sha256().equals(model.sha256())) {
      throw new RunException(
          model.file()
              + " is not the model that this run was begun with (its checksum is "
              + found.sha256()
              + ", not "
              + model.sha256()
              + "): put that file back or start a new run");
    }
  }

  private int run(RunDirectory directory) throws WorkerException {
    rememberEnvironment(directory);
    if (directory.plan().hasModel()) {
      OwnModel.tell(
          directory.plan().engines().values().stream()
              .map(engine -> StudyOptions.parse(engine.spec())));
    }
    StudyRun.Outcome outcome;
    EngineRegistry registry = EngineRegistry.system().with(workers(directory));
    try (Console.Watching watching = console.watch()) {
      outcome = run(directory, registry, watching);
    }
    new RunReports(directory, outcome).write(console);
    if (documents.isPresent()) {
      documents.get().accept(printer.document(directory, outcome));
    } else {
      if (!outcome.parity()) {
        console.table(ParityTable.render(outcome.summary(), console.style()));
      }
      if (!outcome.differing().isEmpty()) {
        console.result(
            "Parity failed: nothing is printed for an engine that computes something else.");
      }
      if (!outcome.blocks().all().isEmpty()) {
        printer.print(console, directory, outcome);
      }
    }
    outcome.broken().forEach(console::note);
    if (!outcome.blocks().all().isEmpty()) {
      remember(directory);
    }
    int code = exitCode(outcome);
    return code == ExitCode.FINE
        ? Regression.of(directory)
            .map(commits -> commits.judge(outcome, directory, console))
            .orElse(code)
        : code;
  }

  private static StudyRun.Outcome run(
      RunDirectory directory, EngineRegistry registry, RunListener listener)
      throws WorkerException {
    Study plan = directory.plan();
    if (CommandRun.is(plan)) {
      return CommandRun.run(directory, registry, listener);
    }
    return BenchmarkRun.is(plan)
        ? new BenchmarkRun(directory, registry, listener).run()
        : new StudyRun(directory, registry, Home.cache(), listener).run();
  }

  /** Adds the run to the history; it can be added later where that fails. */
  private void remember(RunDirectory directory) {
    try (HistoryStore history = HistoryStore.open(HistoryPlace.usual(System.getenv()))) {
      history.add(directory.path());
    } catch (HistoryException e) {
      console.note(
          "the run is not in the history (%s); './steelyard history import %s' adds it later"
              .formatted(e.getMessage(), directory.path()));
    }
  }

  private static Map<String, List<String>> workers(RunDirectory directory) {
    return Regression.of(directory).map(Regression::workers).orElse(Map.of());
  }

  static int exitCode(StudyRun.Outcome outcome) {
    if (!outcome.differing().isEmpty()) {
      return ExitCode.PARITY;
    }
    return outcome.broken().isEmpty() ? ExitCode.FINE : ExitCode.FAILED;
  }

  /**
   * Keeps what the run is made on before anything is measured; what is measured later must be
   * measured on the same hardware.
   */
  static void rememberEnvironment(RunDirectory directory) {
    Map<String, Object> present = Environment.read(Home.path());
    if (Files.notExists(directory.path().resolve(RunDirectory.ENVIRONMENT))) {
      directory.writeEnvironment(present);
      return;
    }
    Object then = directory.read(RunDirectory.ENVIRONMENT, Map.class).get("hardware");
    if (!present.get("hardware").equals(then)) {
      throw new RunException(
          "the hardware is not what "
              + directory.path()
              + " was begun on (see its "
              + RunDirectory.ENVIRONMENT
              + "): figures of two machines can't stand in one run; start a new one");
    }
  }

  private static boolean hasShare(String metric) {
    return WITH_SHARES.contains(metric) || metric.startsWith(Study.FORWARD);
  }

  private static void printComparison(
      Console console, RunDirectory directory, StudyRun.Outcome outcome) {
    Style style = console.style();
    console.table(ComparisonTable.render(outcome.summary(), style));
    console.blank();
    if (directory.plan().hasModel()) {
      if (outcome.parity()) {
        console.table(ParityTable.render(outcome.summary(), style));
        console.blank();
      }
      console.table(FairnessTable.render(outcome.summary(), style));
      console.blank();
    }
    if (outcome.summary().quality().isPresent()) {
      console.table(QualityTable.render(outcome.summary(), style));
      console.blank();
    }
    Headlines.of(outcome.summary(), directory.plan().design().margin()).forEach(console::result);
    console.blank();
    console.result("Report: " + directory.path().resolve("report.md"));
    Study plan = directory.plan();
    if (plan.limits().isEmpty() && plan.metrics().stream().anyMatch(StudyConsole::hasShare)) {
      console.note(RooflineTable.advice(plan.settings().threads()));
    }
  }
}
