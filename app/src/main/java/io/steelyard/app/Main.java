package io.steelyard.app;

import io.steelyard.engines.InstallException;
import io.steelyard.history.HistoryException;
import io.steelyard.lab.RunException;
import io.steelyard.lab.worker.EngineException;
import io.steelyard.lab.worker.WorkerException;
import io.steelyard.models.ModelException;
import io.steelyard.models.UnknownNameException;
import io.steelyard.reports.terminal.Terminal;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.ScopeType;

/** The command line. Results go to stdout, everything else to stderr. */
@Command(
    name = "steelyard",
    mixinStandardHelpOptions = true,
    version = "steelyard 0.1.0",
    description =
        "Weighs language-model inference honestly: which engine is faster, by how much, how surely.",
    synopsisSubcommandLabel = "COMMAND",
    footer = {
      "",
      "Examples:",
      "  ./steelyard compare                       two engines on a small real model",
      "  ./steelyard compare --quick --json        the same, less precisely, as JSON",
      "  ./steelyard generate --chat \"Why is the sky blue?\"",
      "",
      "Exit codes: 0 fine, 1 failed, 2 wrong usage, 3 regression, 4 inconclusive, 5 parity failure."
    },
    subcommands = {
      CompareCommand.class,
      BenchCommand.class,
      AttentionCommand.class,
      SweepCommand.class,
      SuiteCommand.class,
      RegressCommand.class,
      HistoryCommand.class,
      ParityCommand.class,
      CalibrateCommand.class,
      GenerateCommand.class,
      ModelCommand.class,
      EnginesCommand.class,
      ResumeCommand.class
    })
public final class Main {
  private Main() {}

  @Option(
      names = "--llamacpp-home",
      paramLabel = "DIR",
      scope = ScopeType.INHERIT,
      description = "where llama.cpp's libraries lie, instead of installing them")
  void llamaCppHome(Path directory) {
    Engines.llamaCppHome = Optional.of(directory);
  }

  private static final Set<EngineException.Kind> ASKED_WRONGLY =
      EnumSet.of(EngineException.Kind.UNSUPPORTED, EngineException.Kind.BAD_REQUEST);

  public static void main(String[] arguments) {
    // Engines' names and texts are UTF-8 whatever the platform's own charset.
    System.setOut(
        new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8));
    // Numbers are written one way everywhere, in tables as in records.
    Locale.setDefault(Locale.ROOT);
    int code = run(arguments);
    if (System.out.checkError()) {
      if (!isPipe()) {
        System.err.println("steelyard: the output could not be written: is the disk full?");
      }
      code = code == ExitCode.FINE ? ExitCode.FAILED : code;
    }
    System.exit(code);
  }

  /** Whether stdout has a reader, who may leave when he has seen enough, as {@code head} does. */
  private static boolean isPipe() {
    try {
      return Files.readSymbolicLink(Path.of("/proc/self/fd/1")).toString().startsWith("pipe:");
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }

  /** Runs a command line and gives its exit code. */
  static int run(String... arguments) {
    return commandLine().execute(arguments);
  }

  static CommandLine commandLine() {
    CommandLine line = new CommandLine(new Main());
    line.setCaseInsensitiveEnumValuesAllowed(true);
    line.setUsageHelpAutoWidth(true);
    line.setColorScheme(
        CommandLine.Help.defaultColorScheme(Terminal.out().style().colour() ? Ansi.ON : Ansi.OFF));
    line.setExecutionStrategy(
        parsed -> {
          requireOptionsBehind(parsed);
          return new CommandLine.RunLast().execute(parsed);
        });
    line.setExecutionExceptionHandler(
        (failure, command, parsed) -> {
          System.err.println("steelyard: " + message(failure));
          return usage(failure) ? ExitCode.USAGE : ExitCode.FAILED;
        });
    line.setParameterExceptionHandler(
        (failure, rest) -> {
          System.err.println("steelyard: " + failure.getMessage());
          System.err.println(
              "  See '" + failure.getCommandLine().getCommandSpec().qualifiedName() + " --help'.");
          return ExitCode.USAGE;
        });
    return line;
  }

  /** Refuses an option of a command whose subcommand was asked for: nothing would heed it. */
  private static void requireOptionsBehind(ParseResult parsed) {
    for (ParseResult each = parsed; each.hasSubcommand(); each = each.subcommand()) {
      for (OptionSpec option : each.matchedOptions()) {
        if (option.scopeType() != ScopeType.INHERIT
            && !option.usageHelp()
            && !option.versionHelp()) {
          throw new ParameterException(
              each.commandSpec().commandLine(),
              "%s stands before '%s', which doesn't see it there: put it behind, if it takes it"
                  .formatted(option.longestName(), each.subcommand().commandSpec().name()));
        }
      }
    }
  }

  /** Whether the command asked for what there isn't, rather than failed at what there is. */
  private static boolean usage(Exception failure) {
    return switch (failure) {
      case UsageException _, UnknownNameException _ -> true;
      case EngineException e -> ASKED_WRONGLY.contains(e.kind());
      case WorkerException e -> e.refusal().filter(ASKED_WRONGLY::contains).isPresent();
      default -> false;
    };
  }

  private static String message(Exception failure) {
    return switch (failure) {
      case ModelException e -> e.getMessage();
      case RunException e -> e.getMessage();
      case EngineException e -> e.getMessage();
      case WorkerException e -> e.getMessage();
      case UsageException e -> e.getMessage();
      case InstallException e -> e.getMessage();
      case HistoryException e -> e.getMessage();
      case InterruptedException e -> "interrupted";
      case FileSystemException e ->
          e.getFile() + ": " + (e.getReason() == null ? e.toString() : e.getReason());
      case IOException e -> "input or output failed: " + e.getMessage();
      default -> {
        // A fault of Steelyard itself: whoever reports it needs the trace.
        failure.printStackTrace();
        yield "unexpected failure: " + failure;
      }
    };
  }
}
