package io.steelyard.app;

import io.steelyard.engines.steelyard.Profiler;
import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.MatmulSpeed;
import io.steelyard.kernels.Tier;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The process that {@link MatmulCommand} starts, in a virtual machine that all tiers can run in.
 * Its arguments are threads, milliseconds, the folder of a profile, or nothing, then one case each,
 * those of a profile of one tier; it prints one line for each case: the time of every call in
 * nanoseconds.
 */
final class MatmulBench {
  /** One product: a tier, a type, rows × columns, and tokens. */
  record Case(Tier tier, DataType type, int rows, int columns, int tokens) {
    static Case parse(String text) {
      String[] fields = text.split(":", -1);
      return new Case(
          Tier.valueOf(fields[0]),
          DataType.valueOf(fields[1]),
          Integer.parseInt(fields[2]),
          Integer.parseInt(fields[3]),
          Integer.parseInt(fields[4]));
    }

    String text() {
      return "%s:%s:%d:%d:%d".formatted(tier, type, rows, columns, tokens);
    }

    long products() {
      return (long) rows * columns * tokens;
    }

    long bytes() {
      return type.bytes(columns) * rows;
    }
  }

  private MatmulBench() {}

  public static void main(String[] arguments) {
    int threads = Integer.parseInt(arguments[0]);
    int millis = Integer.parseInt(arguments[1]);
    Optional<Path> profile = Optional.of(arguments[2]).filter(s -> !s.isEmpty()).map(Path::of);
    List<Case> cases = Arrays.stream(arguments).skip(3).map(Case::parse).toList();
    MeasuringProcess.measure(
        () ->
            profile.ifPresentOrElse(
                folder -> profile(cases, threads, millis, folder),
                () -> measure(cases, threads, millis)));
  }

  private static void measure(List<Case> cases, int threads, int millis) {
    for (Case each : cases) {
      try (Kernels kernels = Kernels.of(each.tier(), threads)) {
        measure(kernels, each, millis, () -> {});
      }
    }
  }

  private static void measure(Kernels kernels, Case of, int millis, Runnable begin) {
    long[] nanos =
        MatmulSpeed.measure(
            kernels, of.type(), of.rows(), of.columns(), of.tokens(), millis, begin);
    System.out.println(
        Arrays.stream(nanos).mapToObj(Long::toString).collect(Collectors.joining(" ")));
  }

  private static void profile(List<Case> cases, int threads, int millis, Path folder) {
    try (Kernels kernels = Kernels.of(cases.getFirst().tier(), threads);
        Profiler profiler = new Profiler(folder, kernels)) {
      MeasuringProcess.begin(profiler);
      for (Case each : cases) {
        profiler.kernels().measure(false);
        measure(profiler.kernels(), each, millis, () -> profiler.kernels().measure(true));
      }
    }
  }
}
