import io.steelyard.lab.benchmark.Benchmark;
import io.steelyard.lab.benchmark.Benchmarks;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Ways to add up numbers. Those with several sums round differently, so a tolerance is needed. */
public final class Sums implements Benchmarks {
  @Override
  public List<Benchmark<?, ?>> benchmarks() {
    return List.of(
        Benchmark.of("sum", "loop", Sums::loop)
            .variant("four sums", Sums::four, Benchmark.within(1e-12))
            .variant("stream", Sums::stream, Benchmark.within(1e-12))
            .workload("thousand", () -> new Random(1).doubles(1_000).toArray())
            .workload("million", () -> new Random(1).doubles(1_000_000).toArray()));
  }

  static double loop(double[] values) {
    double sum = 0;
    for (double value : values) {
      sum += value;
    }
    return sum;
  }

  /** Each sum waits for itself alone. */
  static double four(double[] values) {
    double a = 0;
    double b = 0;
    double c = 0;
    double d = 0;
    int i = 0;
    for (; i + 3 < values.length; i += 4) {
      a += values[i];
      b += values[i + 1];
      c += values[i + 2];
      d += values[i + 3];
    }
    for (; i < values.length; i++) {
      a += values[i];
    }
    return a + b + (c + d);
  }

  static double stream(double[] values) {
    return Arrays.stream(values).sum();
  }
}
