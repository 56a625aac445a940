package io.steelyard.app;

import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** The option {@code --profile} of benches of Steelyard's own engine. */
final class ProfileOption {
  /** Options that say how much is measured and how it is printed. */
  private static final List<String> OF_MEASUREMENTS =
      List.of(
          "--budget",
          "--forks",
          "--trials",
          "--precision",
          "--outliers",
          "--quick",
          "--output",
          "--json");

  @Option(
      names = "--profile",
      description =
          "instead of measuring, show where the engine steelyard spends its time: a table by"
              + " operator, a flight recording and a flame graph")
  private boolean asked;

  boolean asked() {
    return asked;
  }

  /** Refuses options that a profile has no use for. */
  void requireNoMeasurement(CommandSpec command) {
    for (String option : OF_MEASUREMENTS) {
      if (asked && command.commandLine().getParseResult().hasMatchedOption(option)) {
        throw new UsageException("--profile measures nothing: leave out " + option);
      }
    }
  }
}
