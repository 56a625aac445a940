package io.steelyard.app;

import io.steelyard.lab.run.CommandRun;
import io.steelyard.lab.study.Study;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;

/** What `compare` and `regress` are told of whole commands. */
final class CommandOptions {
  private static final int MOST = 100;
  private static final int USUAL_TRIALS = 10;

  /** Options of either that mean something for commands, too. */
  private static final List<String> SHARED =
      List.of(
          "--base",
          "--against",
          "--history",
          "--head",
          "--repository",
          "--build",
          "--gate",
          "--junit",
          "--markdown",
          "--annotations",
          "--baseline",
          "--margin",
          "--json",
          "--budget",
          "--forks",
          "--trials",
          "--seed",
          "--runs",
          "--precision",
          "--quick",
          "--outliers",
          "--title");

  private static final List<String> OWN =
      List.of(
          "--command",
          "--command-name",
          "--parameter",
          "--prepare",
          "--cleanup",
          "--warm-up",
          "--ignore-failure");

  @Option(
      names = "--command",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      paramLabel = "COMMAND",
      description = "a command for the shell that is measured from start to end; repeatable")
  List<String> commands = new ArrayList<>();

  @Option(
      names = "--command-name",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      paramLabel = "NAME",
      description = "what tables call the command of the same place; repeatable")
  List<String> names = new ArrayList<>();

  @Option(
      names = "--parameter",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      paramLabel = "NAME=VALUES",
      description =
          "measures each command once for each of the values, parted by commas, which take the place"
              + " of {NAME} in it; repeatable, for all combinations")
  Map<String, String> parameters = new LinkedHashMap<>();

  @Option(
      names = "--prepare",
      paramLabel = "COMMAND",
      defaultValue = "",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      description = "runs before each run of a command, untimed; {NAME} stands for a value, too")
  String prepare;

  @Option(
      names = "--cleanup",
      paramLabel = "COMMAND",
      defaultValue = "",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      description = "runs after each run of a command, untimed; {NAME} stands for a value, too")
  String cleanup;

  @Option(
      names = "--warm-up",
      paramLabel = "N",
      defaultValue = "1",
      description = "runs of a command in each block before those that count")
  int warmUp;

  @Option(
      names = "--ignore-failure",
      description = "measure commands that exit with another code than 0")
  boolean ignoreFailure;

  boolean isEmpty() {
    return commands.isEmpty();
  }

  /** The study of the commands. */
  Study study(CommandSpec spec, StudyOptions options, String baseline, double margin) {
    checkOptions(spec);
    Map<String, Study.Engine> engines = engines();
    if (engines.size() < 2) {
      throw new UsageException(
          "one command has nothing to be compared with: give another --command");
    }
    if (!baseline.isEmpty() && !engines.containsKey(baseline)) {
      throw new UsageException(
          "--baseline %s is none of the commands: %s"
              .formatted(baseline, String.join(", ", engines.keySet())));
    }
    String against = baseline.isEmpty() ? engines.keySet().iterator().next() : baseline;
    return ofEngines(spec, options, engines, against, margin);
  }

  /**
   * The study of one command in several folders.
   *
   * @param folders by label
   * @param baseline one of the labels
   */
  Study ofFolders(
      CommandSpec spec,
      StudyOptions options,
      Map<String, Path> folders,
      String baseline,
      double margin) {
    checkOptions(spec);
    Map<String, Study.Engine> alone = engines();
    if (alone.size() > 1) {
      throw new UsageException("it takes one command: the commits are what is compared");
    }
    Study.Engine command = alone.values().iterator().next();
    Map<String, Study.Engine> engines = new LinkedHashMap<>();
    folders.forEach((label, folder) -> engines.put(label, CommandRun.inFolder(command, folder)));
    return ofEngines(spec, options, engines, baseline, margin);
  }

  private static void checkOptions(CommandSpec spec) {
    for (OptionSpec given : spec.commandLine().getParseResult().matchedOptions()) {
      if (!SHARED.contains(given.longestName()) && !OWN.contains(given.longestName())) {
        throw new UsageException(
            given.longestName() + " is about engines: leave it out with --command");
      }
    }
  }

  private Study ofEngines(
      CommandSpec spec,
      StudyOptions options,
      Map<String, Study.Engine> engines,
      String baseline,
      double margin) {
    StudyOptions.between("--warm-up", warmUp, 0, 1000);
    return Study.builder(CommandText.of(spec))
        .model(new Study.Model("commands", "", "", false, 0))
        .engines(engines)
        .baseline(baseline)
        .metrics(List.of("time"))
        .shape(new Study.Shape(0, 0, 0, 1))
        .settings(DesignOptions.withoutModel())
        .design(options.design.of(margin, USUAL_TRIALS).warmedUp(warmUp, 0))
        .build();
  }

  private Map<String, Study.Engine> engines() {
    if (names.size() > commands.size()) {
      throw new UsageException(
          "%d names for %d commands: give each --command-name a --command"
              .formatted(names.size(), commands.size()));
    }
    Map<String, Study.Engine> engines = new LinkedHashMap<>();
    for (int i = 0; i < commands.size(); i++) {
      for (Map<String, String> values : combinations()) {
        String command = filled(commands.get(i), values);
        String label = i < names.size() ? filled(names.get(i), values) : command;
        if (command.isBlank() || label.isBlank()) {
          throw new UsageException("a --command or its name is empty");
        }
        Study.Engine engine =
            CommandRun.engine(
                command, filled(prepare, values), filled(cleanup, values), ignoreFailure);
        if (engines.putIfAbsent(label, engine) != null) {
          throw new UsageException(
              "two commands are called '%s': give them names with --command-name, with {NAME} in it where a parameter differs"
                  .formatted(label));
        }
        StudyOptions.between("number of commands", engines.size(), 1, MOST);
      }
    }
    return engines;
  }

  private List<Map<String, String>> combinations() {
    List<Map<String, String>> all = List.of(Map.of());
    for (Map.Entry<String, String> parameter : parameters.entrySet()) {
      List<Map<String, String>> longer = new ArrayList<>();
      for (Map<String, String> before : all) {
        for (String value : parameter.getValue().split(",", -1)) {
          Map<String, String> with = new LinkedHashMap<>(before);
          with.put(parameter.getKey(), value.strip());
          longer.add(with);
        }
      }
      StudyOptions.between("number of combinations", longer.size(), 1, MOST);
      all = longer;
    }
    return all;
  }

  private static String filled(String text, Map<String, String> values) {
    String filled = text;
    for (Map.Entry<String, String> value : values.entrySet()) {
      filled = filled.replace("{" + value.getKey() + "}", value.getValue());
    }
    return filled;
  }
}
