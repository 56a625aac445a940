package io.steelyard.app;

import io.steelyard.lab.record.Json;
import io.steelyard.lab.study.Study;
import io.steelyard.lab.worker.EngineSpec;
import io.steelyard.lab.worker.WorkerException;
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
          + " built and --worker which command in it speaks the worker protocol. With --command it is"
          + " the time of a whole command in either checkout that is measured.",
      "",
      "Exit codes: 0 no regression, 3 regression, 4 undecided, 5 parity failure."
    },
    footer = {
      "",
      "Examples:",
      "  ./steelyard regress --base main --head my-branch",
      "  ./steelyard regress --base v1.2 --metrics decode --budget 10m --markdown summary.md",
      "  ./steelyard regress --base main --build make --worker \"./engine --steelyard\"",
      "  ./steelyard regress --against stored --metrics decode",
      "  ./steelyard regress --base main --build make --command \"./tool --benchmark\""
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
      paramLabel = "REF",
      description =
          "the commit to compare with: a branch, a tag or a commit; with --against stored, only its"
              + " runs count (default there: all)")
  String base;

  /** What the newer commit is held against. */
  enum Against {
    BUILD,
    STORED
  }

  @Option(
      names = "--against",
      defaultValue = "build",
      paramLabel = "build|stored",
      description =
          "the older commit, built and measured now, or the newest runs in the history that were made on"
              + " the same hardware")
  Against against;

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

  @Mixin HistoryPlace history;
  @Mixin CommandOptions commands;

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
    if (options.engines.size() > 1) {
      throw new UsageException("regress takes one engine: leave out all but one --engine");
    }
    EngineSpec engine =
        StudyOptions.parse(options.engines.isEmpty() ? LAUNCHER : options.engines.getFirst());
    return against == Against.STORED ? againstStored(engine) : againstBuild(engine);
  }

  private int againstBuild(EngineSpec engine) throws Exception {
    if (base == null) {
      throw new UsageException("regress needs --base: the commit to compare with");
    }
    List<String> metrics = comparison.metrics();
    Console console = new Console();
    Checkout before = checkout(base);
    Checkout after = checkout(head);
    Map<String, List<String>> workers = new LinkedHashMap<>();
    Study study;
    if (commands.isEmpty()) {
      build(after, head, console);
      workers.put(HEAD, worker(after, engine));
      build(before, base, console);
      workers.put(BASE, worker(before, engine));
      study =
          study(
              List.of(labelled(HEAD, HEAD, engine), labelled(BASE, BASE, engine)),
              BASE,
              metrics,
              console);
    } else {
      Map<String, Path> folders = new LinkedHashMap<>();
      folders.put(HEAD, after.path());
      folders.put(BASE, before.path());
      study = commands.ofFolders(spec, options, folders, BASE, comparison.verdict.margin);
      build(after, head, console);
      build(before, base, console);
    }
    return begin(
        console, study, named(base, before), named(head, after), workers, Optional.empty());
  }

  /** The present build, or the newer commit's, under the label that its earlier runs have. */
  private int againstStored(EngineSpec engine) throws Exception {
    if (!commands.isEmpty()) {
      throw new UsageException("--against stored is about engines: leave out --command");
    }
    List<String> metrics = comparison.metrics();
    Console console = new Console();
    boolean present = !spec.commandLine().getParseResult().hasMatchedOption("--head");
    StoredRuns stored = new StoredRuns(history.name(), base == null ? "" : checkout(base).commit());
    Map<String, List<String>> workers = new LinkedHashMap<>();
    String measured;
    String name;
    if (present) {
      measured = Engines.prepare(List.of(engine.text()), console).getFirst();
      name = "this build";
    } else {
      Checkout after = checkout(head);
      build(after, head, console);
      workers.put(HEAD, worker(after, engine));
      measured = labelled(HEAD, engine.label(), engine);
      name = named(head, after);
    }
    Study study = study(List.of(measured), null, metrics, console);
    stored.require(study);
    return begin(
        console,
        study,
        base == null ? "its stored runs" : base + " in stored runs",
        name,
        workers,
        Optional.of(stored));
  }

  private Checkout checkout(String reference) throws IOException, InterruptedException {
    return Checkout.of(repository, reference, Home.cache().resolve("worktrees"));
  }

  private static String named(String reference, Checkout checkout) {
    return reference + " (" + checkout.shortName() + ")";
  }

  private Study study(List<String> specs, String baseline, List<String> metrics, Console console) {
    ResolvedModel model = Models.resolve(options.model, console);
    return options.study(
        CommandText.of(spec),
        model,
        specs,
        baseline,
        metrics,
        1,
        comparison.verdict.margin,
        List.of());
  }

  private int begin(
      Console console,
      Study study,
      String older,
      String newer,
      Map<String, List<String>> workers,
      Optional<StoredRuns> stored)
      throws WorkerException {
    Optional<Gate> gate = comparison.gate();
    Regression regression =
        new Regression(
            older,
            newer,
            workers,
            Optional.ofNullable(junit).map(RegressCommand::absolute),
            Optional.ofNullable(markdown).map(RegressCommand::absolute),
            annotations,
            stored,
            gate);
    return new StudyConsole(console, comparison.verdict.json)
        .begin(
            options.design.runs,
            "regress",
            gate.map(g -> g.over(study)).orElse(study),
            Optional.of(regression));
  }

  private static String absolute(Path file) {
    return file.toAbsolutePath().toString();
  }

  private static String labelled(String name, String label, EngineSpec engine) {
    return StudyOptions.withOption(name + written(engine.options()), "label=" + label);
  }

  private static String written(Map<String, String> options) {
    List<String> parts = new ArrayList<>();
    options.forEach((key, value) -> parts.add(key + "=" + value));
    return parts.isEmpty() ? "" : ":" + String.join(",", parts);
  }

  /** Builds a checkout, by Steelyard's own build where it is one and nothing else is said. */
  private void build(Checkout checkout, String name, Console console)
      throws IOException, InterruptedException {
    String command =
        build != null ? build : isSteelyard(checkout) ? "./" + LAUNCHER + " --version" : "";
    if (!command.isEmpty()) {
      console.note("building %s (%s): %s".formatted(name, checkout.shortName(), command));
      checkout.build(command);
    }
  }

  private static boolean isSteelyard(Checkout checkout) {
    return Files.isExecutable(checkout.path().resolve(LAUNCHER));
  }

  /** How a built checkout's worker is started. */
  private List<String> worker(Checkout checkout, EngineSpec engine)
      throws IOException, InterruptedException {
    if (worker != null) {
      return List.of(
          "/bin/sh",
          "-c",
          "cd \"$0\" && exec " + worker,
          checkout.path().toAbsolutePath().toString());
    }
    if (!isSteelyard(checkout)) {
      throw new UsageException(
          "%s is no checkout of Steelyard: say with --worker which command speaks the worker protocol, or with --command what to measure"
              .formatted(checkout.path()));
    }
    List<String> asking =
        List.of(
            checkout.path().resolve(LAUNCHER).toString(),
            "engines",
            "command",
            engine.name() + written(engine.options()));
    return List.of(Json.read(checkout.output(asking), String[].class));
  }
}
