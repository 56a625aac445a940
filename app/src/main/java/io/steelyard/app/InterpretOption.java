package io.steelyard.app;

import io.steelyard.engines.steelyard.SteelyardProvider;
import java.util.List;
import picocli.CommandLine.Option;

/** The option {@code --interpret} of commands that start Steelyard's own engine. */
final class InterpretOption {
  @Option(
      names = "--interpret",
      description =
          "run the engine steelyard without compiling its Java code, for debugging: every figure is"
              + " marked, and slow")
  boolean on;

  /** The engines, Steelyard's own among them told so. */
  List<String> on(List<String> specs) {
    if (!on) {
      return specs;
    }
    if (specs.stream().noneMatch(InterpretOption::isOwn)) {
      throw new UsageException(
          "--interpret is for the engine steelyard, which runs in a Java virtual machine, not for "
              + String.join(", ", specs));
    }
    return specs.stream()
        .map(
            spec ->
                isOwn(spec)
                    ? StudyOptions.withOption(spec, SteelyardProvider.INTERPRET + "=on")
                    : spec)
        .toList();
  }

  /** One engine, told so if it is asked for. */
  String on(String spec) {
    return on(List.of(spec)).getFirst();
  }

  private static boolean isOwn(String spec) {
    return StudyOptions.parse(spec).name().equals(SteelyardProvider.NAME);
  }
}
