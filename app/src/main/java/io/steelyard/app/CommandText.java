package io.steelyard.app;

import java.util.stream.Collectors;
import picocli.CommandLine.Model.CommandSpec;

/** The command line as one would type it again. */
final class CommandText {
  private CommandText() {}

  static String of(CommandSpec spec) {
    CommandSpec root = spec.root();
    return "./steelyard "
        + root.commandLine().getParseResult().originalArgs().stream()
            .map(CommandText::quote)
            .collect(Collectors.joining(" "));
  }

  private static String quote(String argument) {
    return argument.matches("[A-Za-z0-9_@%+=:,./-]+")
        ? argument
        : "'" + argument.replace("'", "'\\''") + "'";
  }
}
