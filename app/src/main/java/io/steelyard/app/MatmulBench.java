package io.steelyard.app;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Kernels;
import io.steelyard.kernels.MatmulSpeed;
import io.steelyard.kernels.Tier;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The process that {@link MatmulCommand} starts, in a virtual machine that all tiers can run in.
 * Its arguments are threads and milliseconds, then one case each; it prints one line for each case:
 * the time of every call in nanoseconds.
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
    List<Case> cases = Arrays.stream(arguments).skip(2).map(Case::parse).toList();
    for (Case each : cases) {
      try (Kernels kernels = Kernels.of(each.tier(), threads)) {
        long[] nanos =
            MatmulSpeed.measure(
                kernels, each.type(), each.rows(), each.columns(), each.tokens(), millis);
        System.out.println(
            Arrays.stream(nanos).mapToObj(Long::toString).collect(Collectors.joining(" ")));
      }
    }
  }
}
