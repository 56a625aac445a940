package io.steelyard.app;

import io.steelyard.lab.RunException;
import io.steelyard.lab.environment.Environment;
import io.steelyard.lab.record.Json;
import io.steelyard.lab.record.RunDirectory;
import io.steelyard.models.catalogue.ResolvedModel;
import io.steelyard.reports.SuiteReport;
import io.steelyard.reports.terminal.Format;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "suite",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Runs everything that Steelyard knows on this machine, one after the other, and ends in one"
          + " report.",
      "",
      "The machine's limits, matrix products, parity, the engines against each other, this build"
          + " against stored runs, memory by part, loads, your own engines, the other models in the cache, and prompts of"
          + " several lengths. What can't run here is listed with the reason. It takes most of an hour;"
          + " --quick takes a few minutes. With --into it goes on with a suite that was interrupted:"
          + " what is finished is not run again, what failed is.",
      "",
      "Exit codes, the gravest of all steps: 5 parity failure, 3 regression, 1 failed, 4 undecided,"
          + " 0 fine."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard suite",
      "  ./steelyard suite --quick --only roofline,engines",
      "  ./steelyard suite --ci --gate docs/examples/gate.yaml"
    })
final class SuiteCommand implements Callable<Integer> {
  private static final String KEPT = "suite.json";

  /** Codes that say more than that something failed, and where failure stands among them. */
  private static final List<Integer> GRAVEST_FIRST =
      List.of(ExitCode.PARITY, ExitCode.REGRESSION, ExitCode.FAILED, ExitCode.INCONCLUSIVE);

  @Option(names = "--quick", description = "a few minutes: three blocks of everything")
  boolean quick;

  @Option(
      names = "--ci",
      description =
          "for continuous integration: as --quick, but what is judged is measured until it is settled;"
              + " the steps' notes go into files")
  boolean ci;

  @Option(
      names = {"-m", "--model"},
      paramLabel = "MODEL",
      defaultValue = "default",
      description =
          "what the engines run: a name of 'model list', a GGUF file, or a folder with safetensors")
  String model;

  @Option(
      names = "--gate",
      paramLabel = "FILE",
      description = "what steelyard's engine may not be against llama.cpp: see 'compare --gate'")
  Path gate;

  @Option(
      names = "--only",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      split = ",",
      paramLabel = "STEP",
      description = "only these steps (default: all)")
  List<String> only = List.of();

  @Option(
      names = "--into",
      paramLabel = "DIR",
      description = "where everything lies (default: a new folder under runs/)")
  Path into;

  @Option(names = "--json", description = "print the report as JSON")
  boolean json;

  @Override
  public Integer call() throws IOException, InterruptedException {
    SuitePlan.Request request = request();
    Console console = new Console();
    ResolvedModel resolved = Models.resolve(request.model(), console);
    SuitePlan plan = SuitePlan.of(request, SuiteMachine.present(resolved, console));
    checkOnly(plan);
    Path folder = into != null ? into : RunDirectory.newFolder(Path.of("runs"), "suite");
    keep(folder, plan);
    SuiteFolder results = new SuiteFolder(folder);
    run(plan, results, console);

    SuiteReport report = results.report(plan, setting(request), this::isWanted);
    Files.writeString(folder.resolve("suite.md"), report.markdown());
    Files.writeString(folder.resolve("suite.html"), report.html());
    if (json) {
      console.result(Json.pretty(report));
    } else {
      console.table(report.render(console.style()));
    }
    console.note("Report: %s and suite.html".formatted(folder.resolve("suite.md")));
    return exitCode(plan, results, console);
  }

  private SuitePlan.Request request() {
    if (quick && ci) {
      throw new UsageException("--quick and --ci are two lengths of a suite: leave one out");
    }
    if (gate != null) {
      var _ = Gate.read(gate, DesignOptions.MARGIN); // an error is told before hours of measuring
      if (!only.isEmpty() && !only.contains(SuitePlan.ENGINES)) {
        throw new UsageException("--gate is for the step engines: add it to --only");
      }
    }
    return new SuitePlan.Request(
        quick ? SuitePlan.Length.QUICK : ci ? SuitePlan.Length.CI : SuitePlan.Length.FULL,
        Files.isRegularFile(Path.of(model)) ? Path.of(model).toAbsolutePath().toString() : model,
        Optional.ofNullable(gate).map(file -> file.toAbsolutePath().toString()));
  }

  private void checkOnly(SuitePlan plan) {
    List<String> known = plan.steps().stream().map(SuitePlan.Step::name).distinct().toList();
    for (String name : only) {
      if (!known.contains(name)) {
        throw new UsageException(
            "--only %s is no step: there are %s".formatted(name, String.join(", ", known)));
      }
    }
  }

  private boolean isWanted(SuitePlan.Step step) {
    return only.isEmpty() || only.contains(step.name());
  }

  /** A folder holds one suite: another one would take over what this one found. */
  private static void keep(Path folder, SuitePlan plan) throws IOException {
    Path kept = folder.resolve(KEPT);
    String asked = Json.pretty(plan.request());
    if (Files.notExists(kept)) {
      Files.createDirectories(folder);
      // Kept, too: what is installed meanwhile must not change a sweep that has begun.
      Files.writeString(folder.resolve(SuitePlan.LENGTHS + ".yaml"), plan.lengths());
      Files.writeString(kept, asked);
    } else if (!Files.readString(kept).equals(asked)) {
      throw new RunException(
          "%s holds a suite that was asked for otherwise (see its %s): ask in the same way, name another folder with --into, or delete it"
              .formatted(folder, KEPT));
    }
  }

  private void run(SuitePlan plan, SuiteFolder results, Console console)
      throws IOException, InterruptedException {
    List<SuitePlan.Step> ahead = new ArrayList<>();
    for (SuitePlan.Step step : plan.steps()) {
      if (!step.runs()) {
        console.note("not run: %s: %s".formatted(step.name(), step.obstacle()));
      } else if (isWanted(step)
          && results.outcome(step).filter(SuiteFolder.Outcome::isSettled).isEmpty()) {
        ahead.add(step);
      }
    }
    console.note(
        "%d steps in %s, about %s (if interrupted, the same command with --into %s goes on)"
            .formatted(ahead.size(), results.folder(), time(ahead), results.folder()));
    for (int i = 0; i < ahead.size(); i++) {
      SuitePlan.Step step = ahead.get(i);
      console.note(
          "step %d of %d: %s, about %s, %s to go"
              .formatted(
                  i + 1,
                  ahead.size(),
                  step.name(),
                  time(List.of(step)),
                  time(ahead.subList(i, ahead.size()))));
      SuiteFolder.Outcome outcome = results.run(step, ci);
      console.note(
          "%s: %s after %s".formatted(step.name(), outcome.words(), seconds(outcome.seconds())));
    }
  }

  private static String time(List<SuitePlan.Step> steps) {
    return seconds(steps.stream().mapToDouble(SuitePlan.Step::seconds).sum());
  }

  private static String seconds(double seconds) {
    return Format.duration(Math.round(seconds * 1e9));
  }

  private static String setting(SuitePlan.Request request) {
    return "%s · %s · %d processors"
        .formatted(
            request.model(), Environment.processor(), Runtime.getRuntime().availableProcessors());
  }

  private int exitCode(SuitePlan plan, SuiteFolder results, Console console) throws IOException {
    List<Integer> codes = new ArrayList<>();
    for (SuitePlan.Step step : plan.steps()) {
      if (step.runs()) {
        results.outcome(step).map(SuiteFolder.Outcome::code).ifPresent(codes::add);
      } else if (step.name().equals(SuitePlan.ENGINES) && gate != null) {
        console.note("the gate was not held: " + step.obstacle());
        codes.add(ExitCode.FAILED);
      }
    }
    return gravest(codes);
  }

  /** The code of a suite whose steps ended with these. */
  static int gravest(List<Integer> codes) {
    List<Integer> known =
        codes.stream()
            .filter(code -> code != ExitCode.FINE)
            .map(code -> GRAVEST_FIRST.contains(code) ? code : ExitCode.FAILED)
            .toList();
    return GRAVEST_FIRST.stream().filter(known::contains).findFirst().orElse(ExitCode.FINE);
  }
}
