package io.steelyard.models.quantize;

import io.steelyard.kernels.DataType;
import io.steelyard.kernels.Tensor;
import io.steelyard.kernels.codec.TensorCodec;
import io.steelyard.models.ModelFile;
import io.steelyard.models.ProgressListener;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/** Holds a file that was written against its source, tensor by tensor. */
public final class Readback {
  private static final int SOME_VALUES = 1 << 18;

  private Readback() {}

  /**
   * What a tensor has become, as read from the file.
   *
   * @param values number of them
   * @param before bytes in the source
   * @param after bytes in the file, with scales
   * @param error root mean square of the differences
   * @param size root mean square of the source's values
   * @param zeros share of values that are zero in the file
   * @param note why it has another type than the others; empty where there is nothing to say
   */
  public record Result(
      String name,
      DataType from,
      DataType to,
      long values,
      long before,
      long after,
      double error,
      double size,
      double zeros,
      String note) {}

  private record Sums(double errors, double squares, long zeros) {
    Sums plus(Sums other) {
      return new Sums(errors + other.errors(), squares + other.squares(), zeros + other.zeros());
    }
  }

  /**
   * Compares all tensors.
   *
   * @param plans what {@link Quantizer#write} returned
   * @param listener hears how many of the source's values were compared
   */
  public static List<Result> of(
      ModelFile written, List<Quantizer.Plan> plans, ProgressListener listener) {
    List<Result> results = new ArrayList<>();
    long total = plans.stream().mapToLong(p -> p.from().rows() * p.from().columns()).sum();
    long done = 0;
    for (Quantizer.Plan plan : plans) {
      Tensor after = written.require(plan.name());
      long values = after.rows() * after.columns();
      Sums sums = plan.encoded() ? compared(plan.from(), after) : new Sums(0, 0, 0);
      results.add(
          new Result(
              plan.name(),
              plan.from().type(),
              after.type(),
              values,
              plan.from().bytes(),
              after.bytes(),
              Math.sqrt(sums.errors() / values),
              Math.sqrt(sums.squares() / values),
              (double) sums.zeros() / values,
              plan.note()));
      done += values;
      listener.progress(done, total);
    }
    return results;
  }

  /** Summed in a fixed order, whatever the threads do. */
  private static Sums compared(Tensor before, Tensor after) {
    int columns = (int) before.columns();
    long some = Math.max(1, SOME_VALUES / columns);
    return LongStream.range(0, Math.ceilDiv(before.rows(), some))
        .parallel()
        .mapToObj(
            part ->
                compared(before, after, part * some, Math.min(before.rows(), (part + 1) * some)))
        .toList()
        .stream()
        .reduce(new Sums(0, 0, 0), Sums::plus);
  }

  private static Sums compared(Tensor before, Tensor after, long from, long to) {
    float[] expected = new float[(int) before.columns()];
    float[] actual = new float[expected.length];
    double errors = 0;
    double squares = 0;
    long zeros = 0;
    for (long row = from; row < to; row++) {
      TensorCodec.decode(before, row, expected);
      TensorCodec.decode(after, row, actual);
      for (int i = 0; i < expected.length; i++) {
        double off = (double) actual[i] - expected[i];
        errors += off * off;
        squares += (double) expected[i] * expected[i];
        zeros += actual[i] == 0 ? 1 : 0;
      }
    }
    return new Sums(errors, squares, zeros);
  }
}
