package io.steelyard.app;

import picocli.CommandLine.Option;

/** The option {@code --call-limit}: how long one pass of what is measured may take. */
final class CallLimitOption {
  @Option(
      names = "--call-limit",
      paramLabel = "TIME",
      converter = Converters.Seconds.class,
      defaultValue = "60s",
      description = "a variant is left out where one pass would take longer than about this")
  double seconds;
}
