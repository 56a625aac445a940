package io.steelyard.app;

import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Model.CommandSpec;

/** The command line as one would type it again. */
final class CommandText {
  private CommandText() {}

  static String of(CommandSpec spec) {
    return of(spec.root().commandLine().getParseResult().originalArgs());
  }

  static String of(List<String> arguments) {
    return arguments.stream()
        .map(CommandText::quote)
        .collect(Collectors.joining(" ", "./steelyard ", ""));
  }

  private static String quote(String argument) {
    return argument.matches("[A-Za-z0-9_@%+=:,./-]+")
        ? argument
        : "'" + argument.replace("'", "'\\''") + "'";
  }
}
