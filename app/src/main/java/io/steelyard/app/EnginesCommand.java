package io.steelyard.app;

import io.steelyard.lab.record.Json;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.Conformance;
import io.steelyard.lab.worker.EngineRegistry;
import io.steelyard.lab.worker.EngineSpec;
import io.steelyard.lab.worker.Timeouts;
import io.steelyard.models.FileTree;
import io.steelyard.models.catalogue.ResolvedModel;
import io.steelyard.reports.terminal.Style;
import io.steelyard.reports.terminal.Table;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "engines",
    mixinStandardHelpOptions = true,
    description = "The engines that can be weighed: list, install, check.",
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "Examples:",
      "  ./steelyard engines list",
      "  ./steelyard engines install llamacpp",
      "  ./steelyard engines check docs/examples/engine.py"
    },
    subcommands = {
      EnginesCommand.ListEngines.class,
      EnginesCommand.Install.class,
      EnginesCommand.Check.class,
      EnginesCommand.WorkerOf.class
    })
final class EnginesCommand {
  private EnginesCommand() {}

  @Command(
      name = "list",
      mixinStandardHelpOptions = true,
      description = "Names the engines, their options and where they come from.",
      footer = {"", "Example:", "  ./steelyard engines list"})
  static final class ListEngines implements Callable<Integer> {
    @Option(names = "--json", description = "print one JSON document on stdout")
    boolean json;

    /** An engine as JSON says it. */
    record Listed(String name, String description, List<String> options, String origin) {}

    @Override
    public Integer call() {
      Console console = new Console();
      EngineRegistry registry = EngineRegistry.system();
      registry.problems().forEach(console::note);
      if (json) {
        console.result(
            Json.pretty(
                registry.entries().stream()
                    .map(e -> new Listed(e.name(), e.description(), e.options(), e.origin()))
                    .toList()));
        return ExitCode.FINE;
      }
      console.table(table(registry, console.style()));
      return ExitCode.FINE;
    }

    private static String table(EngineRegistry registry, Style style) {
      Table table =
          new Table(style)
              .column("engine", Table.Align.LEFT)
              .column("option", Table.Align.LEFT)
              .column("what it is", Table.Align.LEFT);
      for (EngineRegistry.Entry entry : registry.entries()) {
        table.row(entry.name(), "", "%s (%s)".formatted(entry.description(), entry.origin()));
        for (String option : entry.options()) {
          String[] parts = option.split(" ", 2);
          table.row("", parts[0], parts.length > 1 ? parts[1] : "");
        }
        table.gap();
      }
      return table.render();
    }
  }

  @Command(
      name = "install",
      mixinStandardHelpOptions = true,
      description = "Gets what an engine needs from outside, checked against pinned checksums.",
      footer = {"", "Example:", "  ./steelyard engines install llamacpp"})
  static final class Install implements Callable<Integer> {
    @Parameters(paramLabel = "NAME", description = "the engine")
    String name;

    @Override
    public Integer call() throws Exception {
      Console console = new Console();
      if (name.equals(Engines.LLAMACPP)) {
        console.note(Engines.installLlamaCpp(console).message());
        return ExitCode.FINE;
      }
      if (EngineRegistry.system().entries().stream().anyMatch(e -> e.name().equals(name))) {
        console.note(name + " needs nothing from outside");
        return ExitCode.FINE;
      }
      throw new UsageException("there is no engine '" + name + "': see './steelyard engines list'");
    }
  }

  @Command(
      name = "command",
      mixinStandardHelpOptions = true,
      description = "Prints the command that starts an engine's worker, as JSON.",
      footer = {"", "Example:", "  ./steelyard engines command steelyard"})
  static final class WorkerOf implements Callable<Integer> {
    @Parameters(paramLabel = "NAME", description = "an engine, with its options")
    String engine;

    @Override
    public Integer call() throws Exception {
      EngineSpec spec = StudyOptions.parse(engine);
      new Console().result(Json.line(EngineRegistry.system().command(spec).command()));
      return ExitCode.FINE;
    }
  }

  @Command(
      name = "check",
      mixinStandardHelpOptions = true,
      showDefaultValues = true,
      description = "Puts an engine through the conformance test of the worker protocol.",
      footer = {
        "",
        "Examples:",
        "  ./steelyard engines check steelyard",
        "  ./steelyard engines check docs/examples/engine.py"
      })
  static final class Check implements Callable<Integer> {
    /** What the engine is told unless its own options say otherwise. */
    private static final Study.Settings SETTINGS = new Study.Settings(1, 64, "f16", true, "");

    @Parameters(
        paramLabel = "NAME",
        description = "an engine, with its options, or a program that speaks the worker protocol")
    String engine;

    @Option(
        names = {"-m", "--model"},
        paramLabel = "MODEL",
        defaultValue = "default",
        description = "the model to load")
    String model;

    @Option(names = "--json", description = "print one JSON document on stdout")
    boolean json;

    /** What JSON says of a check. */
    record Checked(String engine, boolean conforms, List<Conformance.Check> checks) {}

    @Override
    public Integer call() throws Exception {
      Console console = new Console();
      String prepared = Engines.prepare(List.of(engine), console).getFirst();
      ResolvedModel resolved = Models.resolve(model, console);
      EngineSpec spec = StudyOptions.parse(prepared);
      Path folder = Files.createTempDirectory("steelyard-check-");
      List<Conformance.Check> checks =
          Conformance.check(
              EngineRegistry.system().command(spec).with(EngineSpec.environment(spec.options())),
              AdHocWorker.workers(resolved, SETTINGS, folder).request(spec.options()),
              folder,
              Timeouts.DEFAULT,
              check -> print(console, check));
      boolean passed = Conformance.passed(checks);
      if (passed) {
        FileTree.delete(folder);
      }
      if (json) {
        console.result(Json.pretty(new Checked(engine, passed, checks)));
      } else {
        console.blank();
        console.result(
            engine + (passed ? " conforms to the worker protocol" : " does not conform"));
      }
      if (!passed) {
        console.note("What it wrote to stderr is in " + folder);
      }
      return passed ? ExitCode.FINE : ExitCode.FAILED;
    }

    private void print(Console console, Conformance.Check check) {
      String line =
          "%-7s %s%s"
              .formatted(
                  check.state().name().toLowerCase(Locale.ROOT),
                  check.name(),
                  check.detail().isEmpty() ? "" : ": " + check.detail());
      if (json) {
        console.note(line);
      } else {
        console.result(line);
      }
    }
  }
}
