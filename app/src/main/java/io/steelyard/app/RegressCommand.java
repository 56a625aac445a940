package io.steelyard.app;

import io.steelyard.lab.record.Json;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.EngineSpec;
import io.steelyard.models.catalogue.ResolvedModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "regress",
    mixinStandardHelpOptions = true,
    showDefaultValues = true,
    description = {
      "Says whether a commit made an engine slower: both commits are built and measured now,"
          + " interleaved, on this machine.",
      "",
      "In a checkout of Steelyard nothing more is needed. Elsewhere --build says how a checkout is"
          + " built and --worker which command in it speaks the worker protocol.",
      "",
      "Exit codes: 0 no regression, 3 regression, 4 undecided, 5 parity failure."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard regress --base main --head my-branch",
      "  ./steelyard regress --base v1.2 --metrics decode --budget 10m --markdown summary.md",
      "  ./steelyard regress --base main --build make --worker \"./engine --steelyard\""
    })
final class RegressCommand implements Callable<Integer> {
  private static final String BASE = "base";
  private static final String HEAD = "head";
  private static final String LAUNCHER = "steelyard";

  @Spec CommandSpec spec;
  @Mixin StudyOptions options;
  @Mixin ComparisonOptions comparison;

  @Option(
      names = "--base",
      required = true,
      paramLabel = "REF",
      description = "the commit to compare with: a branch, a tag or a commit")
  String base;

  @Option(
      names = "--head",
      defaultValue = "HEAD",
      paramLabel = "REF",
      description = "the commit that may have a regression")
  String head;

  @Option(
      names = "--repository",
      defaultValue = ".",
      paramLabel = "DIR",
      description = "a folder in the repository of both commits")
  Path repository;

  @Option(
      names = "--build",
      paramLabel = "COMMAND",
      description = "builds a checkout, in its folder (default: Steelyard's own build)")
  String build;

  @Option(
      names = "--worker",
      paramLabel = "COMMAND",
      description =
          "starts a worker, in a checkout's folder (default: that of Steelyard's engine, or of the one"
              + " that --engine names)")
  String worker;

  @Option(names = "--junit", paramLabel = "FILE", description = "write the verdicts as JUnit's XML")
  Path junit;

  @Option(
      names = "--markdown",
      paramLabel = "FILE",
      description = "append a summary in Markdown, as a pull request shows it")
  Path markdown;

  @Option(names = "--annotations", description = "print GitHub's annotations, too")
  boolean annotations;

  @Override
  public Integer call() throws Exception {
    List<String> metrics = comparison.metrics();
    if (options.engines.size() > 1) {
      throw new UsageException("regress takes one engine: leave out all but one --engine");
    }
    EngineSpec engine =
        StudyOptions.parse(options.engines.isEmpty() ? LAUNCHER : options.engines.getFirst());
    Console console = new Console();
    Path worktrees = Home.cache().resolve("worktrees");
    Checkout before = Checkout.of(repository, base, worktrees);
    Checkout after = Checkout.of(repository, head, worktrees);
    Map<String, List<String>> workers = new LinkedHashMap<>();
    workers.put(HEAD, built(after, head, engine, console));
    workers.put(BASE, built(before, base, engine, console));
    ResolvedModel model = Models.resolve(options.model, console);
    List<String> specs = List.of(labelled(HEAD, engine), labelled(BASE, engine));
    Study study =
        options.study(
            CommandText.of(spec), model, specs, BASE, metrics, 1, comparison.margin, List.of());
    Regression regression =
        new Regression(
            base + " (" + before.shortName() + ")",
            head + " (" + after.shortName() + ")",
            workers,
            Optional.ofNullable(junit).map(RegressCommand::absolute),
            Optional.ofNullable(markdown).map(RegressCommand::absolute),
            annotations);
    return new StudyConsole(console, comparison.json)
        .begin(options.runs, "regress", study, Optional.of(regression));
  }

  private static String absolute(Path file) {
    return file.toAbsolutePath().toString();
  }

  private static String labelled(String label, EngineSpec engine) {
    return StudyOptions.withOption(label + written(engine.options()), "label=" + label);
  }

  private static String written(Map<String, String> options) {
    List<String> parts = new ArrayList<>();
    options.forEach((key, value) -> parts.add(key + "=" + value));
    return parts.isEmpty() ? "" : ":" + String.join(",", parts);
  }

  /** Builds a checkout and says how its worker is started. */
  private List<String> built(Checkout checkout, String name, EngineSpec engine, Console console)
      throws IOException, InterruptedException {
    Path launcher = checkout.path().resolve(LAUNCHER);
    boolean own = Files.isExecutable(launcher);
    if (worker == null && !own) {
      throw new UsageException(
          "%s is no checkout of Steelyard: say with --worker which command speaks the worker protocol"
              .formatted(checkout.path()));
    }
    String command = build != null ? build : own ? "./" + LAUNCHER + " --version" : "";
    if (!command.isEmpty()) {
      console.note("building %s (%s): %s".formatted(name, checkout.shortName(), command));
      checkout.build(command);
    }
    if (worker != null) {
      return List.of(
          "/bin/sh",
          "-c",
          "cd \"$0\" && exec " + worker,
          checkout.path().toAbsolutePath().toString());
    }
    List<String> asking =
        List.of(
            launcher.toString(), "engines", "command", engine.name() + written(engine.options()));
    return List.of(Json.read(checkout.output(asking), String[].class));
  }
}
